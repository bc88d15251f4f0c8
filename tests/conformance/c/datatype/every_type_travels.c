/* Values of every predefined C type are received as they were sent. */
#include "check.h"

int main(int argc, char **argv)
{
    static const MPI_Datatype types[] = {MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_WCHAR, MPI_SHORT,
        MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
        MPI_FLOAT, MPI_DOUBLE, MPI_C_BOOL, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T,
        MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
        MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX, MPI_PACKED};
    static unsigned char out[3200], in[3200];
    begin(&argc, &argv);
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        int bytes = 0, count = -1, to = (rank + 1) % size, from = (rank + size - 1) % size;
        MPI_Status status;
        ok(MPI_Type_size(types[t], &bytes));
        fill(out, sizeof out, (int)t + rank);
        memset(in, 0, sizeof in);
        ok(MPI_Sendrecv(out, 100, types[t], to, 0, in, 100, types[t], from, 0, MPI_COMM_WORLD, &status));
        check(filled(in, (size_t)bytes * 100, (int)t + from));
        ok(MPI_Get_count(&status, types[t], &count));
        check_equal(count, 100);
    }
    return finish();
}
