/* MPI_Alloc_mem aligns as requested; the memory is freed once; freeing any other address, and too large a size, is
 * an error. */
#include "check.h"
#include <stdint.h>

int main(int argc, char **argv)
{
    MPI_Info info, hardware;
    char *block = NULL, *blocks[100], text[MPI_MAX_INFO_VAL];
    int local, flag = 0;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Alloc_mem(1000, MPI_INFO_NULL, &block));
    check(block != NULL && (uintptr_t)block % 16 == 0);
    fill(block, 1000, rank);
    check(filled(block, 1000, rank));
    check_class(MPI_Free_mem(block + 1), MPI_ERR_BASE);
    ok(MPI_Free_mem(block));
    check_class(MPI_Free_mem(block), MPI_ERR_BASE);
    check_class(MPI_Free_mem(&local), MPI_ERR_BASE);
    check_class(MPI_Free_mem((void *)8), MPI_ERR_BASE);

    ok(MPI_Info_create(&info));
    for (int alignment = 32; alignment <= 65536; alignment *= 2) {
        snprintf(text, sizeof text, "%d", alignment);
        ok(MPI_Info_set(info, "mpi_minimum_memory_alignment", text));
        ok(MPI_Alloc_mem(10, info, &block));
        check_equal((uintptr_t)block % (uintptr_t)alignment, 0);
        ok(MPI_Free_mem(block));
    }
    ok(MPI_Info_set(info, "mpi_minimum_memory_alignment", "plenty"));
    ok(MPI_Alloc_mem(10, info, &block));
    ok(MPI_Free_mem(block));
    ok(MPI_Info_free(&info));

    for (int i = 0; i < 100; i++)
        ok(MPI_Alloc_mem(i, MPI_INFO_NULL, &blocks[i]));
    for (int i = 0; i < 100; i += 2)
        ok(MPI_Free_mem(blocks[i]));
    for (int i = 1; i < 100; i += 2)
        ok(MPI_Free_mem(blocks[i]));

    block = NULL;
    check_class(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &block), MPI_ERR_NO_MEM);
    check_class(MPI_Alloc_mem(-1, MPI_INFO_NULL, &block), MPI_ERR_ARG);
    check(block == NULL);

    ok(MPI_Get_hw_resource_info(&hardware));
    ok(MPI_Info_get(hardware, "mpi_shared_memory", sizeof text - 1, text, &flag));
    check(flag && strcmp(text, "true") == 0);
    ok(MPI_Info_free(&hardware));
    return finish();
}
