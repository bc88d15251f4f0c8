/* Two jobs connect by a port, exchange messages of all lengths, merge, use collectives, and disconnect; twice by the same
 * port, and once from a process without a launcher. */
#include "jobs.h"

static void together(MPI_Comm inter, int mine)
{
    MPI_Comm all, half, copy;
    MPI_Group group, world;
    MPI_Request request;
    int inside = -1, remote, total, sum, place, relation, before;
    ok(MPI_Comm_test_inter(inter, &inside));
    check(inside == 1);
    exchange_with_all(inter, mine);
    ok(MPI_Comm_remote_size(inter, &remote));

    ok(MPI_Intercomm_merge(inter, mine, &all));
    ok(MPI_Comm_size(all, &total));
    ok(MPI_Comm_rank(all, &place));
    check_equal(total, size + remote);
    check_equal(place, mine == 0 ? rank : remote + rank);
    ok(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all));
    check_equal(sum, total * (total - 1) / 2);
    int *places = malloc(total * sizeof *places);
    ok(MPI_Allgather(&place, 1, MPI_INT, places, 1, MPI_INT, all));
    for (int i = 0; i < total; i++)
        check_equal(places[i], i);
    long *long_in = malloc(50000 * sizeof(long));
    for (int i = 0; i < 50000; i++)
        long_in[i] = place == total - 1 ? i : 0;
    ok(MPI_Bcast(long_in, 50000, MPI_LONG, total - 1, all));
    for (int i = 0; i < 50000; i += 777)
        check_equal(long_in[i], i);
    free(long_in);
    ok(MPI_Barrier(all));

    /* Groups: the own job's processes are those of MPI_COMM_WORLD, the others are not. */
    ok(MPI_Comm_group(all, &group));
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < total; i++) {
        int found = -5, own = mine == 0 ? i < size : i >= remote;
        ok(MPI_Group_translate_ranks(group, 1, &i, world, &found));
        check_equal(found, own ? (mine == 0 ? i : i - remote) : MPI_UNDEFINED);
    }
    ok(MPI_Group_free(&group));
    ok(MPI_Group_free(&world));

    ok(MPI_Comm_split(all, place % 2, -place, &half));
    ok(MPI_Comm_size(half, &before));
    ok(MPI_Allreduce(MPI_IN_PLACE, &before, 1, MPI_INT, MPI_MIN, half));
    check(before == total / 2 || before == (total + 1) / 2);
    ok(MPI_Comm_idup(all, &copy, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Comm_compare(all, copy, &relation));
    check_equal(relation, MPI_CONGRUENT);
    sum = 0;
    ok(MPI_Iallreduce(&place, &sum, 1, MPI_INT, MPI_MAX, copy, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_equal(sum, total - 1);
    /* Collectives between the groups. */
    int from = rank == 0 && mine == 0 ? 4711 : 0;
    ok(MPI_Bcast(&from, 1, MPI_INT, mine == 0 ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter));
    check(from == 4711 || mine == 0);
    ok(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, inter));
    check_equal(sum, remote - 1);
    free(places);
    ok(MPI_Comm_free(&copy));
    ok(MPI_Comm_disconnect(&half));
    ok(MPI_Comm_disconnect(&all));
    ok(MPI_Comm_disconnect(&inter));
    check(inter == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    static const int sizes[] = {3, 1, 0};
    begin(&argc, &argv);
    if (argc > 1) {
        /* The port is significant at the root only. */
        int root = size - 1;
        const char *port = rank == root ? argv[2] : "elsewhere";
        ok(MPI_Comm_connect(port, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter));
        together(inter, 1);
        return finish_silently();
    }
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0)
        ok(MPI_Open_port(MPI_INFO_NULL, port));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pid_t child = rank == 0 ? start_job(sizes[i], argv[0], "connect", port) : 0;
        ok(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        together(inter, 0);
        if (rank == 0)
            end_job(child);
    }
    if (rank == 0)
        ok(MPI_Close_port(port));
    return finish();
}
