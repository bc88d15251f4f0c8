/* Threads of a tool bind performance variables, control variables and events to communicators while the program
 * creates, uses and frees them, at the lowest thread level and at the highest (argument). Variables of existing
 * communicators have correct values, handles of freed ones are invalid, a new communicator has no value of a freed
 * one, and no callback runs after its registration has ended. */
#include "events.h"
#include <pthread.h>
#include <sched.h>

enum { THREADS = 3, COMMS = 4, ROUNDS = 3000, MOST_ROUNDS = 100 * ROUNDS, MESSAGES = 4, LIMIT = 100 };

static size_t words[COMMS];
static int over, looks[THREADS], opened, called, bad;
static int sent_index, high_index, limit_index, event_index;

/* The counts of the callbacks of a thread's registration. */
static struct listener {
    int alive;
    MPI_T_event_registration registration;
} listeners[THREADS];

static void fault(int is)
{
    if (is)
        __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
}

static void on_unexpected(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                          void *data)
{
    struct listener *listener = data;
    fault(!__atomic_load_n(&listener->alive, __ATOMIC_ACQUIRE));
    fault(int_element(instance, 1) < 0 || int_element(instance, 1) >= MESSAGES);
    __atomic_add_fetch(&called, 1, __ATOMIC_RELAXED);
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct listener *listener = data;
    fault(registration != listener->registration);
    __atomic_store_n(&listener->alive, 0, __ATOMIC_RELEASE);
}

static void events(struct listener *listener, void *word)
{
    int code = MPI_T_event_handle_alloc(event_index, word, MPI_INFO_NULL, &listener->registration);
    fault(code != MPI_SUCCESS && code != MPI_T_ERR_INVALID);
    if (code != MPI_SUCCESS)
        return;
    __atomic_store_n(&listener->alive, 1, __ATOMIC_RELEASE);
    MPI_T_cb_safety level = MPI_T_CB_REQUIRE_THREAD_SAFE;
    fault(MPI_T_event_register_callback(listener->registration, level, MPI_INFO_NULL, listener, on_unexpected)
          != MPI_SUCCESS);
    sched_yield();
    fault(MPI_T_event_handle_free(listener->registration, listener, on_free) != MPI_SUCCESS);
    while (__atomic_load_n(&listener->alive, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void settings(void *word)
{
    MPI_T_cvar_handle cvar;
    int count, value = LIMIT, code = MPI_T_cvar_handle_alloc(limit_index, word, &cvar, &count);
    fault(code != MPI_SUCCESS && code != MPI_T_ERR_INVALID);
    if (code != MPI_SUCCESS)
        return;
    code = MPI_T_cvar_write(cvar, &value);
    fault(code != MPI_SUCCESS && code != MPI_T_ERR_INVALID_HANDLE);
    code = MPI_T_cvar_read(cvar, &value);
    fault(code == MPI_SUCCESS ? value != LIMIT : code != MPI_T_ERR_INVALID_HANDLE);
    fault(MPI_T_cvar_handle_free(&cvar) != MPI_SUCCESS);
}

/* If a handle counted in the next communicator, whose counters begin at zero, the number would be below zero. */
static void counts(MPI_T_pvar_session session, int index, unsigned long long most, void *word)
{
    MPI_T_pvar_handle handle;
    int count, code = MPI_T_pvar_handle_alloc(session, index, word, &handle, &count);
    fault(code != MPI_SUCCESS && code != MPI_T_ERR_INVALID);
    if (code != MPI_SUCCESS)
        return;
    __atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
    code = MPI_T_pvar_start(session, handle);
    fault(code != MPI_SUCCESS && code != MPI_T_ERR_INVALID_HANDLE);
    for (int i = 0; i < 20; i++) {
        unsigned long long value = 0;
        code = MPI_T_pvar_read(session, handle, &value);
        fault(code == MPI_SUCCESS ? value > most : code != MPI_T_ERR_INVALID_HANDLE);
    }
    fault(MPI_T_pvar_handle_free(session, &handle) != MPI_SUCCESS);
}

static void *tool(void *number)
{
    int thread = (int)(long)number;
    MPI_T_pvar_session session;
    fault(MPI_T_pvar_session_create(&session) != MPI_SUCCESS);
    for (; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); __atomic_fetch_add(&looks[thread], 1, __ATOMIC_RELEASE))
        for (int i = 0; i < COMMS; i++) {
            size_t word = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
            counts(session, sent_index, 1u << 30, &word);
            counts(session, high_index, MESSAGES, &word);
            settings(&word);
            events(&listeners[thread], &word);
        }
    fault(MPI_T_pvar_session_free(&session) != MPI_SUCCESS);
    return NULL;
}

static void use(MPI_Comm comm)
{
    MPI_Request requests[MESSAGES];
    int words_out[MESSAGES], in;
    for (int i = 0; i < MESSAGES; i++)
        ok(MPI_Isend(&words_out[i], 1, MPI_INT, 0, i, comm, &requests[i]));
    for (int i = 0; i < MESSAGES; i++)
        ok(MPI_Recv(&in, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE));
    ok(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
}

/* A new communicator has no value of an earlier one. */
static void is_new(MPI_Comm comm)
{
    MPI_T_cvar_handle cvar;
    int count, value = 5;
    ok(MPI_T_cvar_handle_alloc(limit_index, &comm, &cvar, &count));
    ok(MPI_T_cvar_read(cvar, &value));
    check_equal(value, -1);
    ok(MPI_T_cvar_handle_free(&cvar));
}

/* Whether the other threads have used an existing communicator, for a variable and for an event. */
static int seen(void)
{
    return __atomic_load_n(&opened, __ATOMIC_RELAXED) > 0 && __atomic_load_n(&called, __ATOMIC_RELAXED) > 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv, argc > 1 && argv[1][0] == '1' ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    tool_begin();
    sent_index = find_pvar("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    high_index = find_pvar("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    ok(MPI_T_cvar_get_index("p2p_comm_eager_limit", &limit_index));
    event_index = find_event("p2p_unexpected");
    for (long i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, tool, (void *)i) == 0);
    /* The scheduler decides whether a message arrives while a thread has a callback: repeated until one did. */
    for (int round = 0; round < ROUNDS || (round < MOST_ROUNDS && !seen()); round++) {
        MPI_Comm comm;
        ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        is_new(comm);
        __atomic_store_n(&words[round % COMMS], (size_t)comm, __ATOMIC_RELEASE);
        use(comm);
        int now = __atomic_load_n(&looks[round % THREADS], __ATOMIC_ACQUIRE);
        /* A few communicators stay until a thread has used them. */
        while (round % 50 == 0 && __atomic_load_n(&looks[round % THREADS], __ATOMIC_ACQUIRE) < now + 2)
            use(comm);
        ok(MPI_Comm_free(&comm));
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_equal(bad, 0);
    check(seen());
    ok(MPI_T_finalize());
    return finish();
}
