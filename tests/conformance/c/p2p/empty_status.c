/* Completion of null and inactive requests gives the empty status: any source, any tag, MPI_SUCCESS, no data. */
#include "check.h"

static void soil(MPI_Status *status)
{
    status->MPI_SOURCE = status->MPI_TAG = 77;
    status->MPI_ERROR = MPI_ERR_OTHER;
}

static void check_empty(const MPI_Status *status)
{
    int count, cancelled;
    check_equal(status->MPI_SOURCE, MPI_ANY_SOURCE);
    check_equal(status->MPI_TAG, MPI_ANY_TAG);
    check_equal(status->MPI_ERROR, MPI_SUCCESS);
    ok(MPI_Get_count(status, MPI_BYTE, &count));
    check_equal(count, 0);
    ok(MPI_Test_cancelled(status, &cancelled));
    check(!cancelled);
}

static void complete(MPI_Request request)
{
    int flag = 0, index = 0, word = 0;
    MPI_Status status, statuses[2];
    MPI_Request list[2] = {request, request}, inactive = request;
    soil(&status);
    ok(MPI_Wait(&inactive, &status));
    check_empty(&status);
    soil(&status);
    ok(MPI_Test(&inactive, &flag, &status));
    check(flag);
    check_empty(&status);
    soil(&status);
    ok(MPI_Waitany(2, list, &index, &status));
    check_equal(index, MPI_UNDEFINED);
    check_empty(&status);
    soil(&status);
    ok(MPI_Testany(2, list, &index, &flag, &status));
    check(flag && index == MPI_UNDEFINED);
    check_empty(&status);
    soil(&statuses[0]);
    ok(MPI_Waitall(1, list, statuses));
    check_empty(&statuses[0]);
    /* Beside one that completes, whose error field is unchanged. */
    list[0] = request;
    ok(MPI_Irecv(&word, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &list[1]));
    ok(MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
    soil(&statuses[0]);
    soil(&statuses[1]);
    ok(MPI_Waitall(2, list, statuses));
    check_empty(&statuses[0]);
    check_equal(statuses[1].MPI_TAG, 3);
    check_equal(statuses[1].MPI_ERROR, MPI_ERR_OTHER);
    check(list[0] == request && list[1] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    int word = 0;
    MPI_Request persistent;
    begin(&argc, &argv);
    complete(MPI_REQUEST_NULL);
    ok(MPI_Recv_init(&word, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &persistent));
    complete(persistent);
    ok(MPI_Request_free(&persistent));
    return finish();
}
