/* Memory of MPI_Alloc_mem can be used as an array of arrays, a message buffer, and a buffer of buffered sends. */
#include "check.h"

int main(int argc, char **argv)
{
    float(*f)[100][100];
    unsigned char *out, *in, *attached;
    int back = -1, number = 5, length = 0;
    begin(&argc, &argv);
    ok(MPI_Alloc_mem(sizeof(float) * 100 * 100, MPI_INFO_NULL, &f));
    (*f)[5][3] = 2.71f;
    (*f)[99][99] = 1.0f;
    check((*f)[5][3] == 2.71f && (*f)[99][99] == 1.0f);
    ok(MPI_Free_mem(f));
    ok(MPI_Alloc_mem(300000, MPI_INFO_NULL, &out));
    ok(MPI_Alloc_mem(300000, MPI_INFO_NULL, &in));
    fill(out, 300000, rank);
    ok(MPI_Sendrecv(out, 300000, MPI_BYTE, (rank + 1) % size, 1, in, 300000, MPI_BYTE, (rank + size - 1) % size, 1,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(filled(in, 300000, (rank + size - 1) % size));
    ok(MPI_Free_mem(out));
    ok(MPI_Free_mem(in));
    ok(MPI_Alloc_mem(1000 + MPI_BSEND_OVERHEAD, MPI_INFO_NULL, &attached));
    ok(MPI_Buffer_attach(attached, 1000 + MPI_BSEND_OVERHEAD));
    ok(MPI_Bsend(&number, 1, MPI_INT, 0, 2, MPI_COMM_SELF));
    ok(MPI_Recv(&back, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    check_equal(back, 5);
    ok(MPI_Buffer_detach(&attached, &length));
    ok(MPI_Free_mem(attached));
    return finish();
}
