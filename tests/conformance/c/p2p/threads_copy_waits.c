/* MPI-5.0 11.6.2: a thread that waits in a call does not keep another one from its message. Rank 1 starts a long
 * send and then computes until rank 0 has a short message from rank 2, for which a second thread waits; a network
 * has nobody who serves a copy of the long message meanwhile. The file, which both ranks map, shows rank 1 that the
 * short message is there. With "alone" rank 0 has one thread, which waits for the short message while it receives the
 * long one too (3.7.4, progress). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { LONG_BYTES = 4 << 20, LIMIT_MS = 20000 };

static unsigned char *data;

static void pause_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static void check_long(void)
{
    int right = 0;
    while (right < LONG_BYTES && data[right] == (unsigned char)(right * 7))
        right++;
    check_equal(right, LONG_BYTES);
}

static void *receive_long(void *unused)
{
    ok(MPI_Recv(data, LONG_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return unused;
}

static void receive_both(volatile char *flag)
{
    pthread_t thread;
    int got = 0;
    check(pthread_create(&thread, NULL, receive_long, NULL) == 0);
    /* Mostly the thread polls for both by then, or copies. */
    pause_ms(200);
    ok(MPI_Recv(&got, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_equal(got, 7);
    *flag = 1;
    pthread_join(thread, NULL);
    check_long();
}

static void receive_both_alone(volatile char *flag)
{
    MPI_Request request;
    int got = 0;
    ok(MPI_Irecv(data, LONG_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
    ok(MPI_Recv(&got, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_equal(got, 7);
    *flag = 1;
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_long();
}

static void compute_until(volatile char *flag)
{
    MPI_Request request;
    for (int i = 0; i < LONG_BYTES; i++)
        data[i] = (unsigned char)(i * 7);
    ok(MPI_Isend(data, LONG_BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
    int waited = 0;
    for (; *flag == 0 && waited < LIMIT_MS; waited++)
        pause_ms(1);
    check(waited < LIMIT_MS);
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    char name[256] = "";
    int alone = argc > 1 && strcmp(argv[1], "alone") == 0;
    begin_threads(&argc, &argv, alone ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
    const char *folder = getenv("TMPDIR");
    data = calloc(1, LONG_BYTES);
    int file = -1;
    if (rank == 0) {
        snprintf(name, sizeof name, "%s/copy-waits-XXXXXX", folder ? folder : "/tmp");
        file = mkstemp(name);
        check(file >= 0 && ftruncate(file, 1) == 0);
    }
    ok(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank != 0)
        file = open(name, O_RDWR);
    char *flag = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    check(file >= 0 && flag != MAP_FAILED);
    /* Connects all with all. */
    int sum[3], one[3] = {1, 1, 1};
    ok(MPI_Alltoall(one, 1, MPI_INT, sum, 1, MPI_INT, MPI_COMM_WORLD));
    if (rank == 0) {
        unlink(name);
        if (alone)
            receive_both_alone(flag);
        else
            receive_both(flag);
    } else if (rank == 1) {
        compute_until(flag);
    } else {
        int seven = 7;
        pause_ms(500);
        ok(MPI_Send(&seven, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
    }
    munmap(flag, 1);
    close(file);
    free(data);
    return finish();
}
