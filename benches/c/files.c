/* Files beside each other: the access patterns of IOR (segmented, strided, random; one shared file, or a file for each
 * process), each write and read independent and collective; and a checkpoint of interleaved records through strided
 * views. The folder is TMPDIR, or /tmp. Numbers in GB/s: data of all processes, by the slowest of them. */
#include "bench.h"

#include <unistd.h>

enum { TRANSFER = 256 * 1024, SMALL = 4096, ROUNDS = 9, NAME = 256 };

static int rank, size;
static char name[NAME];
static char *data, *back;

typedef void body(MPI_File file, int writing, int collective);

/* The transfers of one process: `count` of `bytes` bytes. */
static int count, bytes;
static MPI_Offset *places;

/* By explicit offsets, as IOR does. */
static void transfers(MPI_File file, int writing, int collective)
{
    for (int i = 0; i < count; i++) {
        char *at = (writing ? data : back) + (size_t)i * bytes;
        if (writing && collective)
            MPI_File_write_at_all(file, places[i], at, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else if (writing)
            MPI_File_write_at(file, places[i], at, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else if (collective)
            MPI_File_read_at_all(file, places[i], at, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_read_at(file, places[i], at, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    }
}

/* Through the view, in one call. */
static void through_view(MPI_File file, int writing, int collective)
{
    int all = count * bytes;
    if (writing && collective)
        MPI_File_write_at_all(file, 0, data, all, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (writing)
        MPI_File_write_at(file, 0, data, all, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (collective)
        MPI_File_read_at_all(file, 0, back, all, MPI_BYTE, MPI_STATUS_IGNORE);
    else
        MPI_File_read_at(file, 0, back, all, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void check(const char *what)
{
    if (memcmp(data, back, (size_t)count * bytes) != 0) {
        fprintf(stderr, "rank %d reads other data than it wrote: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Seconds of the slowest process. */
static double timed(body *run, MPI_File file, int writing, int collective)
{
    double seconds, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now();
    run(file, writing, collective);
    seconds = now() - begin;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void measure(const char *what, MPI_Comm comm, MPI_Datatype filetype, MPI_Offset place, body *run)
{
    /* The last: independent, with the hint that strided writes write back gaps. */
    static const char *ways[] = {"", "-all", "-sieved"};
    const int ranks = comm == MPI_COMM_SELF, views = filetype != MPI_BYTE;
    MPI_Info sieving;
    MPI_Info_create(&sieving);
    MPI_Info_set(sieving, "romio_ds_write", "enable");
    char path[NAME + 16], line[NAME];
    double gigabytes = 1e-9 * count * bytes * size;
    for (int way = 0; way < 2 - ranks + views; way++) {
        int collective = way == 1;
        double write[ROUNDS], read[ROUNDS];
        MPI_File file;
        snprintf(path, sizeof path, ranks ? "%s-%d" : "%s", name, rank);
        MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      way == 2 ? sieving : MPI_INFO_NULL, &file);
        if (views)
            MPI_File_set_view(file, place, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
        for (int i = -1; i < ROUNDS; i++) {
            memset(back, 0, (size_t)count * bytes);
            double w = timed(run, file, 1, collective), r = timed(run, file, 0, collective);
            check(what);
            if (i >= 0) {
                write[i] = gigabytes / w;
                read[i] = gigabytes / r;
            }
        }
        MPI_File_close(&file);
        if (rank == 0) {
            snprintf(line, sizeof line, "%s-write%s", what, ways[way]);
            report(line, median(write, ROUNDS), "GB/s");
            snprintf(line, sizeof line, "%s-read%s", what, ways[way]);
            report(line, median(read, ROUNDS), "GB/s");
        }
    }
    MPI_Info_free(&sieving);
}

/* IOR's patterns with transfers of one length. */
static void patterns(const char *length)
{
    char what[64];
    for (int i = 0; i < count; i++)
        places[i] = (MPI_Offset)(rank * count + i) * bytes;
    snprintf(what, sizeof what, "segmented-%s", length);
    measure(what, MPI_COMM_WORLD, MPI_BYTE, 0, transfers);
    for (int i = 0; i < count; i++)
        places[i] = (MPI_Offset)(i * size + rank) * bytes;
    snprintf(what, sizeof what, "strided-%s", length);
    measure(what, MPI_COMM_WORLD, MPI_BYTE, 0, transfers);
    /* Each process's own blocks, in an order without pattern. */
    unsigned state = 12345u + rank;
    for (int i = count - 1; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        int other = (state >> 8) % (i + 1);
        MPI_Offset place = places[i];
        places[i] = places[other];
        places[other] = place;
    }
    snprintf(what, sizeof what, "random-%s", length);
    measure(what, MPI_COMM_WORLD, MPI_BYTE, 0, transfers);
    for (int i = 0; i < count; i++)
        places[i] = (MPI_Offset)i * bytes;
    snprintf(what, sizeof what, "own-file-%s", length);
    measure(what, MPI_COMM_SELF, MPI_BYTE, 0, transfers);
}

int main(int argc, char **argv)
{
    int pid = (int)getpid();
    const char *folder = getenv("TMPDIR");
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/bench-files-%d", folder ? folder : "/tmp", pid);
    const int most = 8 << 20;
    data = malloc(most);
    back = malloc(most);
    places = malloc(most / SMALL * sizeof *places);
    for (int i = 0; i < most; i++)
        data[i] = (char)(i * 31 + i / 251 + rank * 7);
    if (argc > 1 && strcmp(argv[1], "checkpoint") == 0) {
        static const int records[] = {8, 64, 512, 4096, 32768, 262144};
        for (unsigned i = 0; i < sizeof records / sizeof *records; i++) {
            MPI_Datatype block, filetype;
            char what[64];
            bytes = records[i];
            count = (bytes < 64 ? most / 8 : most) / bytes;
            MPI_Type_contiguous(bytes, MPI_BYTE, &block);
            MPI_Type_create_resized(block, 0, (MPI_Aint)size * bytes, &filetype);
            MPI_Type_commit(&filetype);
            snprintf(what, sizeof what, "checkpoint-%d", bytes);
            measure(what, MPI_COMM_WORLD, filetype, (MPI_Offset)rank * bytes, through_view);
            MPI_Type_free(&block);
            MPI_Type_free(&filetype);
        }
    } else {
        bytes = TRANSFER;
        count = most / TRANSFER;
        patterns("256K");
        bytes = SMALL;
        count = most / 4 / SMALL;
        patterns("4K");
    }
    MPI_Finalize();
    return 0;
}
