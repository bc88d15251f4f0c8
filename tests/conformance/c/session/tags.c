/* Communicators that several threads create from groups at once are distinguished by their tags, and parts of the
 * job create theirs without the others. */
#include <pthread.h>

#include "session.h"

enum { THREADS = 4, ROUNDS = 30 };

static int failed[THREADS];

/* All threads of all processes in different order: only the tags identify the calls of one communicator. */
static void *work(void *argument)
{
    int thread = (int)(long)argument;
    MPI_Session session;
    MPI_Group group;
    failed[thread] += MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    failed[thread] += MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    for (int i = 0; i < ROUNDS; i++) {
        char tag[64];
        MPI_Comm comm;
        int own, count, sum = -1, mine = thread * 100 + i;
        snprintf(tag, sizeof tag, "thread %d round %d", thread, i % 3);
        failed[thread] += MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Comm_rank(comm, &own);
        MPI_Comm_size(comm, &count);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
        failed[thread] += sum != count * mine;
        failed[thread] += MPI_Comm_free(&comm);
    }
    failed[thread] += MPI_Group_free(&group);
    failed[thread] += MPI_Session_finalize(&session);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        check_equal(failed[i], 0);
    }
    MPI_Session session = open_session(NULL);
    MPI_Comm comm = everybody(session, "end"), half;
    MPI_Group all = group_of(session, "mpi://WORLD"), part;
    /* The even and the odd ranks, both backwards, with one tag. */
    int members[1024], count = 0;
    for (int i = size - 1; i >= 0; i--)
        if (i % 2 == rank % 2)
            members[count++] = i;
    ok(MPI_Group_incl(all, count, members, &part));
    for (int i = 0; i < 10; i++) {
        ok(MPI_Comm_create_from_group(part, "half", MPI_INFO_NULL, MPI_ERRORS_RETURN, &half));
        int own = -1, found = -1;
        ok(MPI_Comm_rank(half, &own));
        ok(MPI_Comm_size(half, &found));
        check_equal(found, count);
        check_equal(members[own], rank);
        ring(half, i);
        ok(MPI_Comm_free(&half));
    }
    /* A communicator without members. */
    half = comm;
    ok(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &half));
    check(half == MPI_COMM_NULL);
    ok(MPI_Group_free(&part));
    ok(MPI_Group_free(&all));
    int result = judge(comm);
    ok(MPI_Comm_free(&comm));
    ok(MPI_Session_finalize(&session));
    return result;
}
