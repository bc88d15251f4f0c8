/* A buffered send that the library must copy, and for which there is no memory, is MPI_ERR_NO_MEM; later ones work. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/mman.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    const size_t length = (size_t)2 << 40;
    struct rlimit limit;
    long long pages = 0;
    int value = 5, copy = 0;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0));
    char *data = mmap(NULL, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(data != MAP_FAILED);
    /* No second mapping of this length. */
    FILE *sizes = fopen("/proc/self/statm", "r");
    check(sizes && fscanf(sizes, "%lld", &pages) == 1);
    fclose(sizes);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)pages * 4096 + ((rlim_t)1 << 30);
    check_equal(setrlimit(RLIMIT_AS, &limit), 0);
    check_class(MPI_Bsend_c(data, (MPI_Count)length, MPI_BYTE, 0, 0, MPI_COMM_SELF), MPI_ERR_NO_MEM);
    ok(MPI_Bsend(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    ok(MPI_Recv(&copy, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    check_equal(copy, 5);
    munmap(data, length);
    return finish();
}
