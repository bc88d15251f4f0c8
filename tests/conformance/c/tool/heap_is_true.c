/* The heap variables agree with the counts of a program that wraps every allocation function. */
#include "tool.h"

#include <errno.h>
#include <stdint.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* All allocated blocks, by address, in a table with open addressing; 1 stands in place of a removed block. */
enum { PLACES = 1 << 17 };
static struct { uintptr_t address; size_t bytes; } blocks[PLACES];
static unsigned long long held, most, allocations;

static size_t place_of(uintptr_t address, uintptr_t other)
{
    size_t at = (address >> 4) * 0x9e3779b97f4a7c15u >> 40;
    for (;; at++)
        if (blocks[at % PLACES].address == address || blocks[at % PLACES].address == 0 ||
            blocks[at % PLACES].address == other)
            return at % PLACES;
}

static void *recorded(void *memory, size_t bytes)
{
    if (memory) {
        size_t at = place_of((uintptr_t)memory, 1);
        blocks[at].address = (uintptr_t)memory;
        blocks[at].bytes = bytes;
        held += bytes, allocations++;
        if (held > most)
            most = held;
    }
    return memory;
}

static size_t remove_block(void *memory)
{
    size_t at = place_of((uintptr_t)memory, (uintptr_t)memory);
    size_t bytes = blocks[at].address ? blocks[at].bytes : 0;
    if (blocks[at].address)
        blocks[at].address = 1;
    held -= bytes;
    return bytes;
}

void *malloc(size_t bytes)
{
    return recorded(__libc_malloc(bytes), bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return recorded(__libc_calloc(count, bytes), count * bytes);
}

void *realloc(void *memory, size_t bytes)
{
    void *moved = __libc_realloc(memory, bytes);
    if (moved && memory)
        remove_block(memory);
    return recorded(moved, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = recorded(__libc_memalign(alignment, bytes), bytes);
    return *memory ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return recorded(__libc_memalign(alignment, bytes), bytes);
}

void free(void *memory)
{
    if (memory)
        remove_block(memory);
    __libc_free(memory);
}

int main(int argc, char **argv)
{
    enum { MANY = 300 };
    static MPI_Info infos[MANY];
    static MPI_Comm comms[40];
    static char data[3000], key[32];
    MPI_T_pvar_session session;
    MPI_Request request;
    void *memory;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle bytes = watch(session, "memory_heap", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    MPI_T_pvar_handle highest = watch(session, "memory_heap", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL);
    MPI_T_pvar_handle second = watch(session, "memory_heap", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL);
    MPI_T_pvar_handle times = watch(session, "memory_heap_allocations", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    check(read_pvar(session, bytes) > 0 && read_pvar(session, bytes) <= held);

    /* From here on only the library allocates memory. */
    ok(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    unsigned long long before = read_pvar(session, bytes), held_before = held, allocations_before = allocations;
    most = held;
    for (int i = 0; i < MANY; i++) {
        ok(MPI_Info_create(&infos[i]));
        for (int k = 0; k < i % 9; k++) {
            key[0] = (char)('a' + k);
            ok(MPI_Info_set(infos[i], key, data));
        }
        check_equal(read_pvar(session, bytes) - before, held - held_before);
    }
    for (int i = 0; i < 40; i++)
        ok(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
    /* Unexpected messages are kept on the heap. */
    for (int i = 0; i < 100; i++) {
        ok(MPI_Isend(data, 3000, MPI_CHAR, 0, 1, comms[0], &request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ok(MPI_Iprobe(0, 2, comms[0], &(int){0}, MPI_STATUS_IGNORE));
    }
    check(held - held_before >= 100 * 3000);
    ok(MPI_Alloc_mem(100000, MPI_INFO_NULL, &memory));
    check_equal(read_pvar(session, bytes) - before, held - held_before);
    ok(MPI_Free_mem(memory));
    for (int i = 0; i < 100; i++)
        ok(MPI_Recv(data, 3000, MPI_CHAR, 0, 1, comms[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < 40; i++)
        ok(MPI_Comm_free(&comms[i]));
    for (int i = 0; i < MANY; i++)
        ok(MPI_Info_free(&infos[i]));
    check_equal(read_pvar(session, bytes) + held_before, before + held);
    check_equal(read_pvar(session, times), allocations - allocations_before);
    check(most >= held_before + 400000);
    check_equal(read_pvar(session, highest) - before, most - held_before);
    check_equal(read_pvar(session, second) - before, most - held_before);

    /* A reset watermark starts from the bytes in use. Memory that one more handle takes counts in all handles. */
    ok(MPI_T_pvar_reset(session, highest));
    most = held;
    MPI_T_pvar_handle handles[50];
    for (int i = 0; i < 50; i++) {
        handles[i] = watch(session, "memory_heap", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL);
        check_equal(read_pvar(session, highest) - before, most - held_before);
    }
    for (int i = 0; i < 50; i++)
        ok(MPI_T_pvar_handle_free(session, &handles[i]));
    check_equal(read_pvar(session, bytes) - before, held - held_before);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
