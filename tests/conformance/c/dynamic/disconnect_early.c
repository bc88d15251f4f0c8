/* Processes of a group may disconnect from several jobs while others of the group still send to them: a process that
 * has disconnected is not lost for those that wait for the others, in collective operations and in receives from any
 * source. */
#include "jobs.h"

enum { CLIENTS = 3, CLIENT_RANKS = 2, ROUNDS = 4, WORDS = 1000 };

static const useconds_t late_us = 200000;

/* In even rounds one process broadcasts late, in odd ones it sends late; the others of its group have nothing to do. */
static void serve(MPI_Comm *clients, int round)
{
    long words[WORDS];
    for (int i = 0; i < WORDS; i++)
        words[i] = 10L * i + round;
    if (rank == 0)
        usleep(late_us);
    for (int c = 0; c < CLIENTS; c++) {
        if (round % 2 == 0)
            ok(MPI_Bcast(words, WORDS, MPI_LONG, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, clients[c]));
        for (int i = 0; round % 2 && rank == 0 && i < CLIENT_RANKS; i++)
            ok(MPI_Ssend(words, WORDS, MPI_LONG, i, 0, clients[c]));
    }
    for (int c = 0; c < CLIENTS; c++)
        ok(MPI_Comm_disconnect(&clients[c]));
}

static void receive(MPI_Comm server, int round)
{
    long words[WORDS];
    memset(words, 0xff, sizeof words);
    if (round % 2 == 0)
        ok(MPI_Bcast(words, WORDS, MPI_LONG, 0, server));
    else
        ok(MPI_Recv(words, WORDS, MPI_LONG, MPI_ANY_SOURCE, 0, server, MPI_STATUS_IGNORE));
    int right = 0;
    for (int i = 0; i < WORDS; i++)
        right += words[i] == 10L * i + round;
    check_equal(right, WORDS);
    ok(MPI_Comm_disconnect(&server));
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    pid_t jobs[CLIENTS] = {0};
    MPI_Comm inter[CLIENTS];
    MPI_Info info;
    begin(&argc, &argv);
    int is_client = argc > 2, count = is_client ? 1 : CLIENTS;
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "timeout", "20"));
    if (!is_client && rank == 0) {
        ok(MPI_Open_port(MPI_INFO_NULL, port));
        for (int c = 0; c < CLIENTS; c++)
            jobs[c] = start_job(CLIENT_RANKS, argv[0], "client", port);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int c = 0; c < count; c++) {
            if (is_client)
                ok(MPI_Comm_connect(argv[2], info, 0, MPI_COMM_WORLD, &inter[c]));
            else
                ok(MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter[c]));
            ok(MPI_Comm_set_errhandler(inter[c], MPI_ERRORS_RETURN));
        }
        if (is_client)
            receive(inter[0], round);
        else
            serve(inter, round);
    }
    ok(MPI_Info_free(&info));
    if (is_client)
        return finish_silently();
    if (rank == 0) {
        ok(MPI_Close_port(port));
        for (int c = 0; c < CLIENTS; c++)
            end_job(jobs[c]);
    }
    return finish();
}
