/* MPI_Request_get_status_any, _all and _some report what is complete and leave every request as it is. Null and
 * inactive requests have the empty status where all are meant, and are passed over otherwise. */
#include "check.h"

int main(int argc, char **argv)
{
    int in[3] = {0, 0, 0}, out = 7, flag, index, count, indices[5];
    MPI_Request list[5], before[5];
    MPI_Status statuses[5], status;
    begin(&argc, &argv);
    return_errors();
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &list[i]);
    list[3] = MPI_REQUEST_NULL;
    MPI_Recv_init(&in[0], 1, MPI_INT, 0, 9, MPI_COMM_SELF, &list[4]);
    memcpy(before, list, sizeof list);
    ok(MPI_Request_get_status_any(5, list, &index, &flag, &status));
    check(!flag);
    ok(MPI_Request_get_status_all(5, list, &flag, statuses));
    check(!flag);
    ok(MPI_Request_get_status_some(5, list, &count, indices, statuses));
    check_equal(count, 0);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Send(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    do
        ok(MPI_Request_get_status_any(5, list, &index, &flag, &status));
    while (!flag);
    check_equal(index, 1);
    check_equal(status.MPI_TAG, 1);
    do
        ok(MPI_Request_get_status_some(5, list, &count, indices, statuses));
    while (count < 2);
    check_equal(indices[0], 1);
    check_equal(indices[1], 2);
    check_equal(statuses[1].MPI_TAG, 2);
    ok(MPI_Request_get_status_all(5, list, &flag, statuses));
    check(!flag);
    MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    for (int i = 0; i < 5; i++)
        statuses[i].MPI_ERROR = MPI_ERR_OTHER;
    do
        ok(MPI_Request_get_status_all(5, list, &flag, statuses));
    while (!flag);
    for (int i = 0; i < 3; i++)
        check_equal(statuses[i].MPI_TAG, i);
    check_equal(statuses[3].MPI_TAG, MPI_ANY_TAG);
    check_equal(statuses[4].MPI_SOURCE, MPI_ANY_SOURCE);
    for (int i = 0; i < 5; i++)
        check_equal(statuses[i].MPI_ERROR, i < 3 ? MPI_ERR_OTHER : MPI_SUCCESS);
    status.MPI_ERROR = MPI_ERR_OTHER;
    ok(MPI_Request_get_status(list[4], &flag, &status));
    check(flag && status.MPI_ERROR == MPI_SUCCESS && status.MPI_TAG == MPI_ANY_TAG);
    ok(MPI_Request_get_status_all(5, list, &flag, MPI_STATUSES_IGNORE));
    check(flag && memcmp(before, list, sizeof list) == 0);
    ok(MPI_Waitall(3, list, MPI_STATUSES_IGNORE));
    /* None is active: the empty status, with its error field. */
    status.MPI_ERROR = MPI_ERR_OTHER;
    ok(MPI_Request_get_status_any(5, list, &index, &flag, &status));
    check(flag);
    check_equal(index, MPI_UNDEFINED);
    check_equal(status.MPI_SOURCE, MPI_ANY_SOURCE);
    check_equal(status.MPI_ERROR, MPI_SUCCESS);
    ok(MPI_Request_get_status_some(5, list, &count, indices, statuses));
    check_equal(count, MPI_UNDEFINED);
    ok(MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE));
    check(flag);
    list[0] = before[0];
    check_class(MPI_Request_get_status_all(5, list, &flag, statuses), MPI_ERR_REQUEST);
    check_class(MPI_Request_get_status_any(5, list, &index, &flag, &status), MPI_ERR_REQUEST);
    check_class(MPI_Request_get_status_some(5, list, &count, indices, statuses), MPI_ERR_REQUEST);
    check_class(MPI_Request_get_status_all(-1, list, &flag, statuses), MPI_ERR_COUNT);
    ok(MPI_Request_free(&list[4]));
    return finish();
}
