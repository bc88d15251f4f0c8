/* Files that processes of several hosts open together: `files CASE NAME`, with the cases same, other, other-read, lost
   and lost-windows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EACH 64
#define ROUNDS 1000

static int rank, size, wrong;

static void check(int holds, const char *what)
{
    if (!holds && ++wrong < 10)
        fprintf(stderr, "rank %d: %s\n", rank, what);
}

static MPI_File opened(const char *name)
{
    MPI_File file;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    return file;
}

/* Each record of the shared pointer is written once, and nothing is lost. */
static void shared_pointer(MPI_File file)
{
    long long record[EACH / 8];
    MPI_Offset position;
    int *seen = calloc((size_t)(size * ROUNDS), sizeof *seen);
    MPI_File_set_view(file, 0, MPI_LONG_LONG, MPI_LONG_LONG, "native", MPI_INFO_NULL);
    for (int round = 0; round < ROUNDS; round++) {
        for (int at = 0; at < EACH / 8; at++)
            record[at] = rank * ROUNDS + round;
        MPI_File_write_shared(file, record, EACH / 8, MPI_LONG_LONG, MPI_STATUS_IGNORE);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_get_position_shared(file, &position);
    check(position == (long long)size * ROUNDS * EACH / 8, "the shared pointer is elsewhere");
    for (int at = 0; at < size * ROUNDS; at++) {
        MPI_File_read_at(file, at * (EACH / 8), record, EACH / 8, MPI_LONG_LONG, MPI_STATUS_IGNORE);
        check(record[0] >= 0 && record[0] < size * ROUNDS && record[0] == record[EACH / 8 - 1], "no record");
        if (record[0] >= 0 && record[0] < size * ROUNDS)
            check(seen[record[0]]++ == 0, "a record is there twice");
    }
    free(seen);
    MPI_File_seek_shared(file, rank * 0, MPI_SEEK_SET);
    long long own = rank, read = -1;
    MPI_File_write_ordered(file, &own, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, &read, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE);
    check(read == own, "an ordered access has another place");
}

/* Every process has one int of each `size`: the data go through windows. */
static void collective(MPI_File file, const char *choice, const char *irregular)
{
    enum { COUNT = 60000 };
    MPI_Datatype type;
    MPI_Info info;
    MPI_Status status;
    int *out = malloc(COUNT * sizeof *out), *in = malloc(COUNT * sizeof *in), count;
    MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", choice);
    MPI_Info_set(info, "romio_cb_read", choice);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    if (irregular)
        MPI_Info_set(info, "cb_nodes", irregular);
    MPI_File_set_size(file, 0);
    MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, type, "native", info);
    for (int at = 0; at < COUNT; at++)
        out[at] = at * size + rank, in[at] = -1;
    MPI_File_write_at_all(file, 0, out, COUNT, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == COUNT, "another number of elements is written");
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    /* Beyond the end of the file too. */
    MPI_File_read_at_all(file, 10, in, COUNT, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == COUNT - 10 && memcmp(in, out + 10, (COUNT - 10) * sizeof *in) == 0, "other elements are read");
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, (MPI_Offset)rank * COUNT, in, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    for (int at = 0; at < COUNT; at++)
        check(in[at] == rank * COUNT + at, "an element is at another place");
    MPI_Info_free(&info);
    MPI_Type_free(&type);
    free(out);
    free(in);
}

/* A reader sees all of an atomic write, or nothing of it. */
static void atomic_mode(MPI_File file)
{
    enum { COUNT = 4096 };
    int *data = malloc(COUNT * sizeof *data);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_set_size(file, COUNT * sizeof *data);
    MPI_File_set_atomicity(file, 1);
    memset(data, 0, COUNT * sizeof *data);
    if (rank == 0)
        MPI_File_write_at(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 100; round++) {
        if ((rank + round) % 2) {
            for (int at = 0; at < COUNT; at++)
                data[at] = rank * 1000 + round;
            MPI_File_write_at(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE);
        } else {
            MPI_File_read_at(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE);
            for (int at = 1; at < COUNT; at++)
                check(data[at] == data[0], "a part of an atomic write is read");
        }
    }
    MPI_File_set_atomicity(file, 0);
    free(data);
}

static void same(const char *name)
{
    MPI_File file = opened(name);
    shared_pointer(file);
    collective(file, "enable", NULL);
    collective(file, "enable", "1");
    collective(file, "enable", "3");
    collective(file, "automatic", NULL);
    collective(file, "disable", NULL);
    atomic_mode(file);
    MPI_File_close(&file);
    check(access(name, F_OK) != 0, "the file is still there");
}

/* The hosts have different files of this name: an error in all processes. */
static void other(const char *name, int mode)
{
    MPI_File file;
    char text[MPI_MAX_ERROR_STRING];
    int length, class, code = MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
    MPI_Error_class(code, &class);
    check(class == MPI_ERR_NO_SUCH_FILE, "the open has another result");
    if (code && rank == 0) {
        MPI_Error_string(code, text, &length);
        printf("%s\n", text);
    }
}

/* Processes use the shared pointer, or windows, until the host of rank 0 is lost. */
static void lost(const char *name, int collective)
{
    MPI_File file = opened(name);
    MPI_Datatype type;
    MPI_Info info;
    MPI_Type_create_resized(MPI_BYTE, 0, size, &type);
    MPI_Type_commit(&type);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    if (collective)
        MPI_File_set_view(file, rank, MPI_BYTE, type, "native", info);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    for (;;) {
        static char bytes[100000];
        int class, code = collective ? MPI_File_write_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                                     : MPI_File_write_shared(file, bytes, 1, MPI_BYTE, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING];
            int length;
            MPI_Error_class(code, &class);
            MPI_Error_string(code, text, &length);
            const char *expected = class == MPI_ERR_PROC_ABORTED ? "MPI_ERR_PROC_ABORTED" : "another class";
            printf("rank %d: %s: %s\n", rank, expected, text);
            fflush(stdout);
            sleep(4711);
        }
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(argv[1], "same") == 0)
        same(argv[2]);
    else if (strcmp(argv[1], "other") == 0)
        other(argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR);
    else if (strcmp(argv[1], "other-read") == 0)
        other(argv[2], MPI_MODE_RDONLY);
    else
        lost(argv[2], strcmp(argv[1], "lost-windows") == 0);
    int all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf(all ? "%d errors\n" : "No Errors\n", all);
    MPI_Finalize();
    return 0;
}
