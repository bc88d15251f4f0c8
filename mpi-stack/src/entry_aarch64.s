// One entry point; see entry_x86_64.s.
.macro entry number, name
    .text
    .p2align 4
    .globl MPI_\name
    .type MPI_\name, %function
MPI_\name:
    adrp x16, ferrum_stack_table + 8 * \number
    ldr x16, [x16, :lo12:ferrum_stack_table + 8 * \number]
    br x16
    .size MPI_\name, . - MPI_\name
    .type ferrum_stack_first_\number, %function
ferrum_stack_first_\number:
    mov x17, \number
    b ferrum_stack_first
.endm

// The number of the function is in x17.
.text
.p2align 4
.type ferrum_stack_first, %function
ferrum_stack_first:
    stp x29, x30, [sp, #-224]!
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    stp q0, q1, [sp, #96]
    stp q2, q3, [sp, #128]
    stp q4, q5, [sp, #160]
    stp q6, q7, [sp, #192]
    mov x0, x17
    bl ferrum_stack_resolve
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    ldp q0, q1, [sp, #96]
    ldp q2, q3, [sp, #128]
    ldp q4, q5, [sp, #160]
    ldp q6, q7, [sp, #192]
    ldp x29, x30, [sp], #224
    br x16
.size ferrum_stack_first, . - ferrum_stack_first

// The `dlsym` of a tool; see entry_x86_64.s.
.p2align 4
.globl ferrum_stack_dlsym
.hidden ferrum_stack_dlsym
.type ferrum_stack_dlsym, %function
ferrum_stack_dlsym:
    stp x29, x30, [sp, #-32]!
    mov x29, sp
    stp x0, x1, [sp, #16]
    mov x2, x30
    bl ferrum_stack_symbol
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    cbz x16, 2f
    mov x0, x16
    ret
2:
    b dlsym
.size ferrum_stack_dlsym, . - ferrum_stack_dlsym
