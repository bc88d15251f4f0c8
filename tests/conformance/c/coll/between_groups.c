/* Collectives on an intercommunicator: each group gets what the other one contributes; in all forms. */
#include "check.h"

enum { FORMS = 3, N = 700 };

static MPI_Comm inter;
static int low, local_rank, local_size, remote_size;

/* Data of a process of one of the groups. */
static int value(int of_low, int who, int place)
{
    return (of_low ? 500000 : 0) + who * 10007 + place;
}

#define IN_ALL_FORMS(form, name, iname, init, ...)                                                                     \
    do {                                                                                                               \
        MPI_Request request;                                                                                           \
        if (form == 0) {                                                                                               \
            ok(name(__VA_ARGS__, inter));                                                                              \
        } else if (form == 1) {                                                                                        \
            ok(iname(__VA_ARGS__, inter, &request));                                                                   \
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                                 \
        } else {                                                                                                       \
            ok(init(__VA_ARGS__, inter, MPI_INFO_NULL, &request));                                                     \
            for (int start = 0; start < 2; start++) {                                                                  \
                ok(MPI_Start(&request));                                                                               \
                ok(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                             \
            }                                                                                                          \
            ok(MPI_Request_free(&request));                                                                            \
        }                                                                                                              \
    } while (0)

static int *data(int n)
{
    int *memory = malloc((size_t)(n + 1) * sizeof *memory);
    for (int i = 0; i <= n; i++)
        memory[i] = -1;
    return memory;
}

static int sum_of_others(int place)
{
    int sum = 0;
    for (int who = 0; who < remote_size; who++)
        sum += value(!low, who, place);
    return sum;
}

/* The root is a process of the lower group, or of the upper. */
static void rooted(int form, int root_is_low, int root)
{
    int in_root_group = low == root_is_low, is_root = in_root_group && local_rank == root;
    int argument = !in_root_group ? root : is_root ? MPI_ROOT : MPI_PROC_NULL;
    int blocks = in_root_group ? remote_size : local_size;
    int *all = data(blocks * N), *one = data(N), counts[blocks], displs[blocks];
    for (int i = 0; i < N; i++)
        one[i] = is_root || !in_root_group ? value(low, local_rank, i) : -1;
    for (int i = 0; i < blocks; i++) {
        counts[i] = N / (i + 1);
        displs[i] = i * N;
    }
    int *got = data(N);
    memcpy(got, one, N * sizeof *got);
    if (in_root_group && !is_root)
        IN_ALL_FORMS(form, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, NULL, 0, MPI_DATATYPE_NULL, argument);
    else
        IN_ALL_FORMS(form, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, got, N, MPI_INT, argument);
    for (int i = 0; i < N; i++)
        check_equal(got[i], in_root_group && !is_root ? -1 : value(root_is_low, root, i));

    if (in_root_group && !is_root)
        IN_ALL_FORMS(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, NULL, NULL, 0, MPI_DATATYPE_NULL, MPI_OP_NULL,
                     argument);
    else
        IN_ALL_FORMS(form, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, one, got, N, MPI_INT, MPI_SUM, argument);
    for (int i = 0; i < N && is_root; i++)
        check_equal(got[i], sum_of_others(i));

    IN_ALL_FORMS(form, MPI_Gather, MPI_Igather, MPI_Gather_init, one, N, MPI_INT, all, N, MPI_INT, argument);
    for (int i = 0; i < blocks * N && is_root; i++)
        check_equal(all[i], value(!low, i / N, i % N));
    IN_ALL_FORMS(form, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, all, N, MPI_INT, got, N, MPI_INT, argument);
    for (int i = 0; i < N && !in_root_group; i++)
        check_equal(got[i], one[i]);

    int own = N / (local_rank + 1);
    for (int i = 0; i < blocks * N; i++)
        all[i] = -1;
    IN_ALL_FORMS(form, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, one, own, MPI_INT, all, counts, displs, MPI_INT,
                 argument);
    for (int i = 0; i < blocks * N && is_root; i++)
        check_equal(all[i], i % N < counts[i / N] ? value(!low, i / N, i % N) : -1);
    memset(got, 0, N * sizeof *got);
    IN_ALL_FORMS(form, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, all, counts, displs, MPI_INT, got, own, MPI_INT,
                 argument);
    for (int i = 0; i < N && !in_root_group; i++)
        check_equal(got[i], i < own ? one[i] : 0);
    free(all);
    free(one);
    free(got);
}

static void of_all(int form)
{
    int *send = data(remote_size * N), *recv = data(remote_size * N), *sums = data(remote_size * N);
    int counts[remote_size], displs[remote_size], own_counts[remote_size];
    MPI_Datatype types[remote_size];
    for (int i = 0; i < remote_size * N; i++)
        send[i] = value(low, local_rank, i);
    for (int i = 0; i < remote_size; i++) {
        counts[i] = N / (i + 1);
        own_counts[i] = N / (local_rank + 1);
        displs[i] = i * N;
        types[i] = MPI_INT;
    }
    IN_ALL_FORMS(form, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, send, N, MPI_INT, recv, N, MPI_INT);
    for (int i = 0; i < remote_size * N; i++)
        check_equal(recv[i], value(!low, i / N, i % N));
    IN_ALL_FORMS(form, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, send, N, MPI_INT, recv, N, MPI_INT);
    for (int i = 0; i < remote_size * N; i++)
        check_equal(recv[i], value(!low, i / N, local_rank * N + i % N));
    IN_ALL_FORMS(form, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, send, N / (local_rank + 1), MPI_INT, recv,
                 counts, displs, MPI_INT);
    for (int i = 0; i < remote_size * N; i++)
        if (i % N < counts[i / N])
            check_equal(recv[i], value(!low, i / N, i % N));
    IN_ALL_FORMS(form, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, send, own_counts, displs, MPI_INT, recv,
                 counts, displs, MPI_INT);
    for (int i = 0; i < remote_size * N; i++)
        if (i % N < counts[i / N])
            check_equal(recv[i], value(!low, i / N, local_rank * N + i % N));
    for (int i = 0; i < remote_size; i++)
        displs[i] *= (int)sizeof(int);
    IN_ALL_FORMS(form, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, send, own_counts, displs, types, recv, counts,
                 displs, types);
    for (int i = 0; i < remote_size * N; i++)
        if (i % N < counts[i / N])
            check_equal(recv[i], value(!low, i / N, local_rank * N + i % N));
    IN_ALL_FORMS(form, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, send, sums, N, MPI_INT, MPI_SUM);
    for (int i = 0; i < N; i++)
        check_equal(sums[i], sum_of_others(i));
    /* As many elements in both groups: a multiple of both sizes. */
    int each = remote_size * 30, parts[local_size], before = 0;
    int *many = data(each * local_size), *part = data(each * local_size);
    for (int i = 0; i < each * local_size; i++)
        many[i] = value(low, local_rank, i);
    IN_ALL_FORMS(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, many, part,
                 each, MPI_INT, MPI_SUM);
    for (int i = 0; i < each; i++)
        check_equal(part[i], sum_of_others(local_rank * each + i));
    for (int i = 0; i < local_size; i++) {
        parts[i] = i == local_size - 1 ? each * local_size - before : each / 2;
        before += i < local_size - 1 ? parts[i] : 0;
    }
    before = each / 2 * local_rank;
    IN_ALL_FORMS(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, many, part, parts, MPI_INT,
                 MPI_SUM);
    for (int i = 0; i < parts[local_rank]; i++)
        check_equal(part[i], sum_of_others(before + i));
    free(send);
    free(recv);
    free(sums);
    free(many);
    free(part);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm local;
    int split = (size + 2) / 3;
    low = rank < split;
    ok(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &local));
    ok(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? split : 0, 5, &inter));
    ok(MPI_Comm_rank(inter, &local_rank));
    ok(MPI_Comm_size(inter, &local_size));
    ok(MPI_Comm_remote_size(inter, &remote_size));
    for (int form = 0; form < FORMS; form++) {
        MPI_Request request;
        ok(MPI_Barrier(inter));
        ok(MPI_Ibarrier(inter, &request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int root = 0; root < split; root++)
            rooted(form, 1, root);
        for (int root = 0; root < size - split; root++)
            rooted(form, 0, root);
        of_all(form);
    }
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    int one = 1, sum = 0;
    check_class(MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    check_class(MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    check_class(MPI_Bcast(&one, 1, MPI_INT, remote_size, inter), MPI_ERR_ROOT);
    check_class(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    ok(MPI_Comm_free(&inter));
    ok(MPI_Comm_free(&local));
    return finish();
}
