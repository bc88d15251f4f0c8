/* A session begins and publishes a name while the last session before it ends, which waits for a message to be
 * received: the name stays published until its own session ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "session.h"

enum { WORDS = 1 << 20 };

static int words[WORDS];
static atomic_int ending, ended;

/* Waits until the first thread sleeps in MPI_Session_finalize. */
static void await_sleep(void)
{
    char path[64], facts[512];
    int ends, sleeps = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)getpid());
    do {
        ends = atomic_load(&ending);
        FILE *file = fopen(path, "r");
        check(file != NULL);
        if (file == NULL)
            return;
        size_t length = fread(facts, 1, sizeof facts - 1, file);
        fclose(file);
        facts[length] = '\0';
        /* The state follows the name, which is in parentheses. */
        sleeps = strstr(facts, ") S ") != NULL;
        usleep(1000);
    } while (!ends || !sleeps);
}

static void *begin_and_publish(void *argument)
{
    char service[64], found[MPI_MAX_PORT_NAME] = "";
    (void)argument;
    snprintf(service, sizeof service, "ferrum beside end %ld", (long)getpid());
    await_sleep();
    check(!atomic_load(&ended));
    MPI_Session session = open_session(NULL);
    ok(MPI_Publish_name(service, MPI_INFO_NULL, "a port"));
    MPI_Comm comm = everybody(session, "second");
    ok(MPI_Barrier(comm));
    while (!atomic_load(&ended))
        usleep(1000);
    ok(MPI_Lookup_name(service, MPI_INFO_NULL, found));
    check(strcmp(found, "a port") == 0);
    ok(MPI_Unpublish_name(service, MPI_INFO_NULL, "a port"));
    ok(MPI_Publish_name(service, MPI_INFO_NULL, "left"));
    int result = judge(comm);
    ok(MPI_Comm_free(&comm));
    ok(MPI_Session_finalize(&session));
    /* Withdrawn at the end of its session: a name that is there cannot be published again. */
    session = open_session(NULL);
    ok(MPI_Publish_name(service, MPI_INFO_NULL, "again"));
    ok(MPI_Unpublish_name(service, MPI_INFO_NULL, "again"));
    ok(MPI_Session_finalize(&session));
    return (void *)(long)(result || wrong);
}

int main(void)
{
    MPI_Session session = open_session(NULL);
    MPI_Comm comm = everybody(session, "first");
    MPI_Request request;
    int result = 0;
    check_equal(size, 2);
    if (rank == 0) {
        pthread_t thread;
        void *returned = NULL;
        ok(MPI_Isend(words, WORDS, MPI_INT, 1, 3, comm, &request));
        ok(MPI_Request_free(&request));
        ok(MPI_Comm_free(&comm));
        check(pthread_create(&thread, NULL, begin_and_publish, NULL) == 0);
        atomic_store(&ending, 1);
        ok(MPI_Session_finalize(&session));
        atomic_store(&ended, 1);
        pthread_join(thread, &returned);
        result = (int)(long)returned;
    } else {
        MPI_Session second = open_session(NULL);
        MPI_Comm other = everybody(second, "second");
        ok(MPI_Barrier(other));
        ok(MPI_Recv(words, WORDS, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE));
        ok(MPI_Comm_free(&comm));
        judge(other);
        ok(MPI_Comm_free(&other));
        ok(MPI_Session_finalize(&second));
        ok(MPI_Session_finalize(&session));
    }
    return result;
}
