/* Wrong uses of intercommunicators are errors in all processes of the call, and no process waits for ever. */
#include "inter.h"

int main(int argc, char **argv)
{
    MPI_Comm own, inter, made = MPI_COMM_SELF;
    MPI_Group group;
    MPI_Win win;
    MPI_File file;
    begin(&argc, &argv);
    return_errors();
    int side = side_of(rank), mine, value = 0, in[64] = {0}, all[1024];
    own = own_side();
    ok(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    ok(MPI_Comm_rank(own, &mine));
    int other = world_rank_of(!side, 0), leads = mine == 0;

    /* An argument of the leader is wrong: all processes of its group get the class. */
    check_class(MPI_Intercomm_create(own, 0, leads ? MPI_COMM_NULL : MPI_COMM_WORLD, other, 1, &made), MPI_ERR_COMM);
    check_class(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, leads ? size : other, 1, &made), MPI_ERR_RANK);
    check_class(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, leads ? MPI_ANY_SOURCE : other, 1, &made), MPI_ERR_RANK);
    check_class(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, leads ? MPI_PROC_NULL : other, 1, &made), MPI_ERR_RANK);
    check_class(MPI_Intercomm_create(own, -1, MPI_COMM_WORLD, other, 1, &made), MPI_ERR_RANK);
    check_class(MPI_Intercomm_create(own, count_of(side), MPI_COMM_WORLD, other, 1, &made), MPI_ERR_RANK);
    check_class(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, other, -1, &made), MPI_ERR_TAG);

    /* Groups with common processes: both groups are all processes, also with one leader for both. */
    MPI_Comm first, second;
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    for (int i = 0; i < 3; i++)
        check_class(MPI_Intercomm_create(first, 0, MPI_COMM_WORLD, 0, i, &made), MPI_ERR_COMM);
    ok(MPI_Comm_free(&first));
    /* Two groups that have rank 0 in common: it makes both calls, and every process gets the error. */
    if (size > 2) {
        int in_first = rank == 0 || rank == 1, in_second = rank == 0 || rank > 1;
        ok(MPI_Comm_split(MPI_COMM_WORLD, in_first ? 0 : MPI_UNDEFINED, -rank, &first));
        ok(MPI_Comm_split(MPI_COMM_WORLD, in_second ? 0 : MPI_UNDEFINED, -rank, &second));
        if (in_first) {
            ok(MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN));
            check_class(MPI_Intercomm_create(first, 0, MPI_COMM_WORLD, size - 1, 5, &made), MPI_ERR_COMM);
            ok(MPI_Comm_free(&first));
        }
        if (in_second) {
            ok(MPI_Comm_set_errhandler(second, MPI_ERRORS_RETURN));
            check_class(MPI_Intercomm_create(second, 0, MPI_COMM_WORLD, 1, 5, &made), MPI_ERR_COMM);
            ok(MPI_Comm_free(&second));
        }
    }
    check(made == MPI_COMM_SELF);

    /* An intercommunicator where an intracommunicator is needed, and the reverse. */
    ok(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, other, 6, &inter));
    check_class(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, other, 1, &made), MPI_ERR_COMM);
    check_class(MPI_Intercomm_merge(own, 0, &made), MPI_ERR_COMM);
    check_class(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
    check_class(MPI_Comm_remote_group(own, &group), MPI_ERR_COMM);
    ok(MPI_Comm_group(inter, &group));
    check_class(MPI_Comm_create_group(inter, group, 1, &made), MPI_ERR_COMM);
    ok(MPI_Group_free(&group));
    check_class(MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, inter, &win), MPI_ERR_COMM);
    check_class(MPI_Win_allocate(64, 1, MPI_INFO_NULL, inter, &all, &win), MPI_ERR_COMM);
    check_class(MPI_File_open(inter, "no-file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_COMM);

    /* Values of MPI_Intercomm_merge that differ within a group. */
    if (size > 2)
        check_class(MPI_Intercomm_merge(inter, mine == 0, &made), MPI_ERR_ARG);
    check(made == MPI_COMM_SELF);
    all_to_all_remote(inter, 9);
    ok(MPI_Comm_free(&inter));
    ok(MPI_Comm_free(&own));
    return finish();
}
