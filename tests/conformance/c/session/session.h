/* Functions for the programs about sessions: a session that returns errors, a communicator of all processes, and an
 * end without the world model. */
#ifndef FERRUM_SESSION_H
#define FERRUM_SESSION_H

#include "check.h"

static inline MPI_Session open_session(const char *level)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (level) {
        ok(MPI_Info_create(&info));
        ok(MPI_Info_set(info, "thread_level", level));
    }
    ok(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    check(session != MPI_SESSION_NULL);
    if (level)
        ok(MPI_Info_free(&info));
    return session;
}

static inline MPI_Group group_of(MPI_Session session, const char *pset)
{
    MPI_Group group = MPI_GROUP_NULL;
    ok(MPI_Group_from_session_pset(session, pset, &group));
    check(group != MPI_GROUP_NULL);
    return group;
}

/* A communicator of all processes, which returns errors. */
static inline MPI_Comm everybody(MPI_Session session, const char *tag)
{
    MPI_Group group = group_of(session, "mpi://WORLD");
    MPI_Comm comm = MPI_COMM_NULL;
    ok(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    ok(MPI_Group_free(&group));
    ok(MPI_Comm_rank(comm, &rank));
    ok(MPI_Comm_size(comm, &size));
    return comm;
}

/* One round of messages to check that a communicator works; `seed` distinguishes rounds. */
static inline void ring(MPI_Comm comm, int seed)
{
    int own, count, got = -1;
    ok(MPI_Comm_rank(comm, &own));
    ok(MPI_Comm_size(comm, &count));
    int sent = own * 1000 + seed, previous = (own + count - 1) % count;
    ok(MPI_Sendrecv(&sent, 1, MPI_INT, (own + 1) % count, 5, &got, 1, MPI_INT, previous, 5, comm, MPI_STATUS_IGNORE));
    check_equal(got, previous * 1000 + seed);
    int sum = -1;
    ok(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm));
    check_equal(sum, count * (count - 1) / 2);
}

/* The result over a communicator of all processes; the caller finalises its sessions afterwards. */
static inline int judge(MPI_Comm comm)
{
    int total = 0;
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, comm);
    return verdict(total);
}

#endif
