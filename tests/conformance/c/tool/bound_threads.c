/* A thread of a tool binds variables to objects while the program creates and frees them, at all thread levels
 * (argument). In a process whose MPI has one thread the calls return MPI_T_ERR_NOT_ACCESSIBLE while the program is in a
 * call of the library. */
#include "bound.h"

#include <pthread.h>
#include <sched.h>

enum { OBJECTS = 8, ROUNDS = 4000 };

static MPI_T_pvar_session session;
static size_t words[OBJECTS];
static int level, over, looks, opened, refused, bad;

/* Binds variables to the objects in `words`, valid or freed. */
static void *tool(void *kind)
{
    static const struct { const char *name; int class; } variables[] = {
        {"objects_group_processes", MPI_T_PVAR_CLASS_SIZE}, {"p2p_request_bytes", MPI_T_PVAR_CLASS_SIZE},
        {"objects_info_keys", MPI_T_PVAR_CLASS_LEVEL}};
    static const unsigned long long good[] = {1, 64, 2};
    int index[3], count;
    for (int v = 0; v < 3; v++)
        index[v] = find_pvar(variables[v].name, variables[v].class);
    for (; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); __atomic_fetch_add(&looks, 1, __ATOMIC_RELEASE))
        for (int i = 0; i < OBJECTS; i++) {
            size_t word = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
            MPI_T_pvar_handle handle;
            unsigned long long value = 0;
            int v = i % 3, code = MPI_T_pvar_handle_alloc(session, index[v], &word, &handle, &count);
            if (code == MPI_SUCCESS) {
                opened++;
                code = v == 2 ? MPI_T_pvar_start(session, handle) : MPI_SUCCESS;
                if (code == MPI_SUCCESS)
                    code = MPI_T_pvar_read(session, handle, &value);
                /* While the object exists the value is its own (a cancelled request has none); otherwise the handle
                 * is invalid. */
                if (code == MPI_SUCCESS ? value != good[v] && (v != 1 || value != 0) : code != MPI_T_ERR_INVALID_HANDLE)
                    bad++;
                ok(MPI_T_pvar_handle_free(session, &handle));
            } else if (code == MPI_T_ERR_NOT_ACCESSIBLE && level == MPI_THREAD_SINGLE && v < 2) {
                __atomic_fetch_add(&refused, 1, __ATOMIC_RELEASE);
            } else if (code != MPI_T_ERR_INVALID) {
                bad++;
            }
        }
    return NULL;
}

/* Publishes an object to the other thread. Most objects are freed at once; a few stay until the thread has used
 * them. */
static void show(int round, size_t word)
{
    __atomic_store_n(&words[round % OBJECTS], word, __ATOMIC_RELEASE);
    int now = __atomic_load_n(&looks, __ATOMIC_ACQUIRE);
    while (round % 50 == 0 && __atomic_load_n(&looks, __ATOMIC_ACQUIRE) < now + 2)
        sched_yield();
}

/* Calls the library until the tool was refused, which takes that it tries during a call. */
static void call_until_refused(MPI_Group group)
{
    int found;
    __atomic_store_n(&words[0], (size_t)group, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&refused, __ATOMIC_ACQUIRE))
        ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char data[64];
    int first = 0;
    level = argc > 1 && argv[1][0] == '1' ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    begin_threads(&argc, &argv, level);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    MPI_Group world, group;
    MPI_Request request;
    MPI_Info info;
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    check(pthread_create(&thread, NULL, tool, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++)
        switch (round % OBJECTS % 3) {
        case 0:
            ok(MPI_Group_incl(world, 1, &first, &group));
            show(round, (size_t)group);
            ok(MPI_Group_free(&group));
            break;
        case 1:
            ok(MPI_Irecv(data, 64, MPI_CHAR, 0, 1, MPI_COMM_SELF, &request));
            show(round, (size_t)request);
            ok(MPI_Cancel(&request));
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        default:
            ok(MPI_Info_create(&info));
            ok(MPI_Info_set(info, "a", "1"));
            ok(MPI_Info_set(info, "b", "2"));
            show(round, (size_t)info);
            ok(MPI_Info_free(&info));
        }
    if (level == MPI_THREAD_SINGLE)
        call_until_refused(world);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    check_equal(bad, 0);
    check(opened > 0);
    check((level == MPI_THREAD_SINGLE) == (refused > 0));
    ok(MPI_Group_free(&world));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
