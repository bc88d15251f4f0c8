/* Collective writes at positions, blocking, started and in two parts, reach the file where each process says. */
#include "file/file.h"

enum { LENGTH = 25 };

int main(int argc, char **argv)
{
    char name[NAME];
    int out[3][LENGTH], in[LENGTH];
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    int count = -1;
    begin(&argc, &argv);
    name_of(name, "at_all");
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < LENGTH; i++)
            out[part][i] = 1000 * part + 100 * rank + i;
    /* Each part has a block of each process. */
    ok(MPI_File_write_at_all(file, (0 * size + rank) * LENGTH, out[0], LENGTH, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, LENGTH);
    ok(MPI_File_iwrite_at_all(file, (1 * size + rank) * LENGTH, out[1], LENGTH, MPI_INT, &request));
    ok(MPI_Wait(&request, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, LENGTH);
    ok(MPI_File_write_at_all_begin(file, (2 * size + rank) * LENGTH, out[2], LENGTH, MPI_INT));
    ok(MPI_File_write_at_all_end(file, out[2], &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, LENGTH);
    ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    check_equal(size_of(name), 3LL * size * LENGTH * (long long)sizeof(int));
    int other = (rank + 1) % size;
    for (int part = 0; part < 3; part++) {
        ok(MPI_File_read_at_all(file, (part * size + other) * LENGTH, in, LENGTH, MPI_INT, &status));
        for (int i = 0; i < LENGTH; i++)
            check_equal(in[i], 1000 * part + 100 * other + i);
    }
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
