/* The data of every root reaches all processes, at all sizes. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 8, 100, 5000, 70000, 2000003};
    static unsigned char data[2000003];
    begin(&argc, &argv);
    for (int root = 0; root < size; root++)
        for (int s = 0; s < 7; s++) {
            int seed = root * 10 + s;
            if (rank == root)
                fill(data, (size_t)lengths[s], seed);
            else
                memset(data, 0, (size_t)lengths[s]);
            ok(MPI_Bcast(data, lengths[s], MPI_BYTE, root, MPI_COMM_WORLD));
            check(filled(data, (size_t)lengths[s], seed));
        }
    return finish();
}
