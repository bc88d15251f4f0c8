// One entry point: it jumps to where its place in the table leads. All argument registers and the stack stay as they
// are, so that it serves functions of any type, also with further arguments.
// Before tools are loaded, the place leads to `ferrum_stack_first_N`, which looks its target up at the first call.
.macro entry number, name
    .text
    .p2align 4
    .globl MPI_\name
    .type MPI_\name, @function
MPI_\name:
    jmp qword ptr [rip + ferrum_stack_table + 8 * \number]
    .size MPI_\name, . - MPI_\name
    .type ferrum_stack_first_\number, @function
ferrum_stack_first_\number:
    push \number
    jmp ferrum_stack_first
.endm

// The number of the function is on the stack, below it the return address of the caller.
.text
.p2align 4
.type ferrum_stack_first, @function
ferrum_stack_first:
    push rdi
    push rsi
    push rdx
    push rcx
    push r8
    push r9
    push rax
    sub rsp, 136
    movups [rsp], xmm0
    movups [rsp + 16], xmm1
    movups [rsp + 32], xmm2
    movups [rsp + 48], xmm3
    movups [rsp + 64], xmm4
    movups [rsp + 80], xmm5
    movups [rsp + 96], xmm6
    movups [rsp + 112], xmm7
    mov rdi, [rsp + 192]
    call ferrum_stack_resolve
    mov r11, rax
    movups xmm0, [rsp]
    movups xmm1, [rsp + 16]
    movups xmm2, [rsp + 32]
    movups xmm3, [rsp + 48]
    movups xmm4, [rsp + 64]
    movups xmm5, [rsp + 80]
    movups xmm6, [rsp + 96]
    movups xmm7, [rsp + 112]
    add rsp, 136
    pop rax
    pop r9
    pop r8
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    add rsp, 8
    jmp r11
.size ferrum_stack_first, . - ferrum_stack_first

// What the `dlsym` of a tool leads to: `ferrum_stack_symbol` with the return address as third argument; where that
// returns null, the system's function, as if the tool had called it.
.p2align 4
.globl ferrum_stack_dlsym
.hidden ferrum_stack_dlsym
.type ferrum_stack_dlsym, @function
ferrum_stack_dlsym:
    push rdi
    push rsi
    mov rdx, [rsp + 16]
    sub rsp, 8
    call ferrum_stack_symbol
    add rsp, 8
    pop rsi
    pop rdi
    test rax, rax
    jz 2f
    ret
2:
    jmp qword ptr [rip + dlsym@GOTPCREL]
.size ferrum_stack_dlsym, . - ferrum_stack_dlsym
