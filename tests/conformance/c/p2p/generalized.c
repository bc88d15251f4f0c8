/* Generalized requests: MPI_Grequest_complete makes one complete; a wait or test calls query_fn and then free_fn
 * once; the status is what query_fn has set; a free before or after the completion calls free_fn alone; MPI_Cancel
 * calls cancel_fn with whether the request was complete; callbacks may call MPI; one completes in a list beside
 * other requests, and from another thread. */
#include "check.h"
#include <pthread.h>

static int queried, freed, cancelled, cancel_flag, in_callback;

static int query(void *state, MPI_Status *status)
{
    int *value = state;
    queried++;
    /* No lock is held: a call of MPI works here. */
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &in_callback, MPI_STATUS_IGNORE);
    MPI_Status_set_elements(status, MPI_INT, *value);
    MPI_Status_set_cancelled(status, cancelled);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return MPI_SUCCESS;
}

static int freeing(void *state)
{
    check(state != NULL);
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    check(state != NULL);
    cancelled = !complete;
    cancel_flag = complete;
    return MPI_SUCCESS;
}

static void reset(void)
{
    queried = freed = cancelled = 0;
    cancel_flag = -1;
}

static void *complete_later(void *request)
{
    ok(MPI_Grequest_complete(*(MPI_Request *)request));
    return NULL;
}

static void status_is(const MPI_Status *status, int elements)
{
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    check_equal(count, elements);
    check_equal(status->MPI_SOURCE, 3);
    check_equal(status->MPI_TAG, 4);
}

int main(int argc, char **argv)
{
    int value = 5, flag, in = 0, out = 6, index, count, indices[3];
    MPI_Request request, copy, list[3];
    MPI_Status status, statuses[3];
    pthread_t thread;
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    return_errors();

    reset();
    ok(MPI_Grequest_start(query, freeing, cancel, &value, &request));
    ok(MPI_Test(&request, &flag, &status));
    check(!flag && queried == 0);
    ok(MPI_Request_get_status(request, &flag, &status));
    check(!flag && queried == 0);
    ok(MPI_Grequest_complete(request));
    check_class(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    ok(MPI_Request_get_status(request, &flag, &status));
    check(flag && queried == 1 && freed == 0);
    status_is(&status, 5);
    copy = request;
    ok(MPI_Wait(&request, &status));
    check(request == MPI_REQUEST_NULL && queried == 2 && freed == 1);
    status_is(&status, 5);
    check_class(MPI_Grequest_complete(copy), MPI_ERR_REQUEST);
    check_class(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    check(queried == 2 && freed == 1);

    /* Without a status, query_fn is called too. */
    reset();
    ok(MPI_Grequest_start(query, freeing, cancel, &value, &request));
    ok(MPI_Grequest_complete(request));
    ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    check(flag && request == MPI_REQUEST_NULL && queried == 1 && freed == 1);

    /* Freed before and after its completion. */
    reset();
    ok(MPI_Grequest_start(query, freeing, cancel, &value, &request));
    copy = request;
    ok(MPI_Request_free(&request));
    check(request == MPI_REQUEST_NULL && freed == 0);
    ok(MPI_Grequest_complete(copy));
    check(queried == 0 && freed == 1);
    ok(MPI_Grequest_start(query, freeing, cancel, &value, &request));
    ok(MPI_Grequest_complete(request));
    ok(MPI_Request_free(&request));
    check(queried == 0 && freed == 2);

    /* Cancelled before and after its completion. */
    reset();
    ok(MPI_Grequest_start(query, freeing, cancel, &value, &request));
    ok(MPI_Cancel(&request));
    check_equal(cancel_flag, 0);
    ok(MPI_Grequest_complete(request));
    ok(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &flag);
    check(flag);
    reset();
    ok(MPI_Grequest_start(query, freeing, cancel, &value, &request));
    ok(MPI_Grequest_complete(request));
    ok(MPI_Cancel(&request));
    check_equal(cancel_flag, 1);
    ok(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &flag);
    check(!flag);

    /* Beside others, in every call that takes a list. */
    for (int way = 0; way < 6; way++) {
        int done = 0;
        reset();
        ok(MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &list[0]));
        ok(MPI_Grequest_start(query, freeing, cancel, &value, &list[1]));
        ok(MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &list[2]));
        ok(MPI_Testall(3, list, &flag, statuses));
        check(!flag && queried == 0);
        ok(MPI_Grequest_complete(list[1]));
        while (done < 3) {
            if (way == 0) {
                ok(MPI_Waitall(3, list, statuses));
                done = 3;
            } else if (way == 1) {
                ok(MPI_Testall(3, list, &flag, statuses));
                done = flag ? 3 : 0;
            } else if (way == 2 || way == 3) {
                flag = 1;
                if (way == 2)
                    ok(MPI_Waitany(3, list, &index, &status));
                else
                    ok(MPI_Testany(3, list, &index, &flag, &status));
                if (flag)
                    statuses[index] = status, done++;
            } else {
                MPI_Status some[3];
                if (way == 4)
                    ok(MPI_Waitsome(3, list, &count, indices, some));
                else
                    ok(MPI_Testsome(3, list, &count, indices, some));
                for (int i = 0; i < count; i++)
                    statuses[indices[i]] = some[i], done++;
            }
        }
        status_is(&statuses[1], 5);
        check(queried == 1 && freed == 1 && in == 6);
        check(list[0] == MPI_REQUEST_NULL && list[1] == MPI_REQUEST_NULL && list[2] == MPI_REQUEST_NULL);
    }

    /* A thread completes the request that another waits for. */
    reset();
    for (int round = 0; round < 50; round++) {
        ok(MPI_Grequest_start(query, freeing, cancel, &value, &request));
        copy = request;
        pthread_create(&thread, NULL, complete_later, &copy);
        if (round % 2)
            ok(MPI_Wait(&request, &status));
        else
            ok(MPI_Waitall(1, &request, &status));
        pthread_join(thread, NULL);
        status_is(&status, 5);
    }
    check(queried == 50 && freed == 50);

    ok(MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &request));
    check_class(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_class(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    check_class(MPI_Grequest_start(NULL, freeing, cancel, &value, &request), MPI_ERR_ARG);
    return finish();
}
