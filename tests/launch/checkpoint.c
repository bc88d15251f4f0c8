/* A checkpoint of interleaved records: `checkpoint FILE die` writes and synchronises the first half collectively, and
 * begins the second half, again and again, until a rank is killed inside; `checkpoint FILE check` reads what was
 * synchronised. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { RECORDS = 50000 };

static int rank, size;
static long data[RECORDS], back[RECORDS];

static void killed(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void fill(long part)
{
    for (long i = 0; i < RECORDS; i++)
        data[i] = part << 40 | i << 8 | rank;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int dies = strcmp(argv[2], "die") == 0;
    MPI_Datatype record;
    MPI_File file;
    MPI_Type_create_resized(MPI_LONG, 0, size * sizeof(long), &record);
    MPI_Type_commit(&record);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, rank * sizeof(long), MPI_LONG, record, "native", MPI_INFO_NULL);
    fill(1);
    if (dies) {
        MPI_File_write_at_all(file, 0, data, RECORDS, MPI_LONG, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1) {
            struct itimerval soon = {{0, 0}, {0, 20000}};
            signal(SIGALRM, killed);
            setitimer(ITIMER_REAL, &soon, NULL);
        }
        for (long part = 2;; part++) {
            fill(part);
            MPI_File_write_at_all(file, RECORDS, data, RECORDS, MPI_LONG, MPI_STATUS_IGNORE);
        }
    }
    MPI_File_read_at_all(file, 0, back, RECORDS, MPI_LONG, MPI_STATUS_IGNORE);
    int same = memcmp(data, back, sizeof data) == 0, all;
    MPI_Reduce(&same, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", all ? "all that was synchronised is there" : "something is lost");
    MPI_File_close(&file);
    MPI_Type_free(&record);
    MPI_Finalize();
    return 0;
}
