/* A job that a fault hits at a moment: `faults MOMENT HOST FOLDER`. Each process makes a file FOLDER/up... at the
 * moment, and those on HOST are the ones that the fault hits:
 *   start        they do not call MPI_Init, in which the others are
 *   long         each exchanges long messages with one of the other half
 *   collective   all are in long reductions
 *   lock         they hold the lock of a window of the others, which wait for it
 *   spawn        all are in MPI_Comm_spawn, whose processes do not call MPI_Init (`faults child HOST FOLDER`)
 *   end          they do not call MPI_Finalize, in which the others are
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 16 << 20, REDUCED = 1 << 20 };

static const char *folder;

/* This process is where the fault is to hit it. */
static void report_up(void)
{
    char name[4096], host[256] = "";
    gethostname(host, sizeof host - 1);
    /* Process ids of hosts are the same ones. */
    snprintf(name, sizeof name, "%s/up-%s-%d", folder, host, (int)getpid());
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (file < 0 || close(file) != 0) {
        perror(name);
        exit(90);
    }
}

static void stay(void)
{
    report_up();
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 91;
    const char *moment = argv[1], *victim = argv[2];
    char host[256] = "";
    folder = argv[3];
    gethostname(host, sizeof host - 1);
    const int is_hit = !strcmp(host, victim);
    if (!strcmp(moment, "child"))
        stay();
    if (!strcmp(moment, "start")) {
        if (is_hit)
            stay();
        report_up();
    }
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int other = (rank + size / 2) % size;
    char *out = calloc(1, LONG), *in = calloc(1, LONG);
    if (!out || !in)
        return 92;
    if (!strcmp(moment, "long")) {
        for (int round = 0;; round++) {
            MPI_Sendrecv(out, LONG, MPI_BYTE, other, 0, in, LONG, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            if (round == 0)
                report_up();
        }
    } else if (!strcmp(moment, "collective")) {
        for (int round = 0;; round++) {
            MPI_Allreduce(out, in, REDUCED / sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            if (round == 0)
                report_up();
        }
    } else if (!strcmp(moment, "lock")) {
        const int target = is_hit ? other : rank;
        MPI_Win window;
        MPI_Win_create(in, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        for (int turn = 0; turn < 2; turn++) {
            if (is_hit == (turn == 0)) {
                if (turn == 1)
                    report_up();
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
                MPI_Put(out, 1, MPI_BYTE, target, 0, 1, MPI_BYTE, window);
                MPI_Win_flush(target, window);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            if (is_hit)
                stay();
        }
    } else if (!strcmp(moment, "spawn")) {
        char *arguments[] = {"child", argv[2], argv[3], NULL};
        MPI_Comm inter;
        report_up();
        MPI_Comm_spawn(argv[0], arguments, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    } else if (!strcmp(moment, "end")) {
        MPI_Sendrecv(out, 1, MPI_BYTE, other, 0, in, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (is_hit)
            stay();
        report_up();
    }
    MPI_Finalize();
    return 0;
}
