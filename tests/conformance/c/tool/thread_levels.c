/* For any requested level MPI_T_init_thread grants MPI_THREAD_MULTIPLE, also in a program that has begun with one
 * thread and MPI at a lower level: values that threads stored before and after further threads began are correct,
 * and the calls of any number of threads are all counted. Argument: the requested level of MPI and of the interface,
 * or `odd`. */
#include "events.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 800000, MESSAGES = 20000 };

static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle shared;
static MPI_T_cvar_handle limit;
static int bad, bad_callbacks, called, inside;
static pthread_barrier_t line;

static void fault(int is)
{
    if (is)
        __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
}

static void on_set(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    int index = -1;
    if (__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST) != 0 || MPI_T_event_read(instance, 0, &index) != MPI_SUCCESS)
        bad_callbacks++;
    called++;
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

/* Starts, stops and resets a handle of this thread's own, of a communicator without messages: its value is the last
 * one written, or 0. */
static void own_steps(int thread)
{
    unsigned long long written = 1000u + (unsigned)thread, value = 1;
    MPI_T_pvar_session mine;
    MPI_T_pvar_handle handle;
    MPI_Comm comm = MPI_COMM_WORLD;
    int index = -1, count = 0, provided = -1;
    fault(MPI_T_init_thread(levels[thread % 4], &provided) != MPI_SUCCESS || provided != MPI_THREAD_MULTIPLE);
    fault(MPI_T_pvar_session_create(&mine) != MPI_SUCCESS);
    fault(MPI_T_pvar_get_index("p2p_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, &index) != MPI_SUCCESS);
    fault(MPI_T_pvar_handle_alloc(mine, index, &comm, &handle, &count) != MPI_SUCCESS);
    fault(MPI_T_pvar_write(mine, handle, &written) != MPI_SUCCESS);
    fault(MPI_T_pvar_start(mine, MPI_T_PVAR_ALL_HANDLES) != MPI_SUCCESS);
    fault(MPI_T_pvar_read(mine, handle, &value) != MPI_SUCCESS || value != written);
    fault(MPI_T_pvar_stop(mine, handle) != MPI_SUCCESS);
    fault(MPI_T_pvar_readreset(mine, handle, &value) != MPI_SUCCESS || value != written);
    fault(MPI_T_pvar_read(mine, handle, &value) != MPI_SUCCESS || value != 0);
    if (thread % 2)
        fault(MPI_T_pvar_handle_free(mine, &handle) != MPI_SUCCESS);
    fault(MPI_T_pvar_session_free(&mine) != MPI_SUCCESS);
    fault(MPI_T_finalize() != MPI_SUCCESS);
}

/* A control variable handle of this thread's own; all threads write the setting, each a permitted value. */
static void settings(int thread)
{
    unsigned long long value = 4000u + (unsigned)thread, now = 0;
    MPI_T_cvar_handle mine;
    int index = -1, count = 0;
    fault(MPI_T_cvar_get_index("p2p_eager_limit", &index) != MPI_SUCCESS);
    fault(MPI_T_cvar_handle_alloc(index, NULL, &mine, &count) != MPI_SUCCESS);
    fault(MPI_T_cvar_write(mine, &value) != MPI_SUCCESS);
    fault(MPI_T_cvar_read(limit, &now) != MPI_SUCCESS || now < 4000 || now >= 4000 + THREADS);
    fault(MPI_T_cvar_handle_free(&mine) != MPI_SUCCESS);
}

/* The sum that all threads read and reset from the shared handle is what was added to it, by writes before and by
 * messages meanwhile. */
static void *beside_others(void *number)
{
    int thread = (int)(long)number, provided;
    unsigned long long *taken = calloc(1, sizeof *taken), value;
    pthread_barrier_wait(&line);
    for (int round = 0; round < ROUNDS; round++) {
        value = ~0ull;
        fault(MPI_T_pvar_readreset(session, shared, &value) != MPI_SUCCESS || value > MESSAGES + 77);
        *taken += value;
        fault(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS || MPI_T_finalize() != MPI_SUCCESS);
        if (round % 1024 == 0)
            own_steps(thread);
        if (round % 8192 == 0)
            settings(thread);
    }
    return taken;
}

static void message(void)
{
    int word = 1, back = 0;
    ok(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &back, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

static unsigned long long alone(void)
{
    unsigned long long value = 70;
    ok(MPI_T_pvar_write(session, shared, &value));
    message();
    ok(MPI_T_pvar_stop(session, shared));
    message();
    ok(MPI_T_pvar_start(session, shared));
    check_equal(read_pvar(session, shared), 71);
    return 71;
}

/* One thread at a time, each created when the previous one has ended. */
static void *in_turn(void *number)
{
    own_steps((int)(long)number);
    return NULL;
}

static void ask_for(int required)
{
    int provided = -1;
    ok(MPI_T_init_thread(required, &provided));
    check_equal(provided, MPI_THREAD_MULTIPLE);
}

static void begin_at(int *argc, char ***argv, const char *which)
{
    int odd[] = {-1, MPI_THREAD_MULTIPLE + 1, 0x7fffffff, -0x7fffffff - 1, 4711}, provided = -1;
    if (strcmp(which, "odd") == 0) {
        for (int i = 0; i < 5; i++)
            ask_for(odd[i]);
        for (int i = 0; i < 4; i++)
            ok(MPI_T_finalize());
        check_equal(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
        MPI_Init(argc, argv);
    } else {
        ask_for(levels[atoi(which)]);
        ok(MPI_Init_thread(argc, argv, levels[atoi(which)], &provided));
        check(provided >= levels[atoi(which)]);
    }
    identify();
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    unsigned long long put_in = 0, taken = 0, writes = THREADS * ((ROUNDS + 8191) / 8192);
    int index, count, number = -1;
    begin_at(&argc, &argv, argc > 1 ? argv[1] : "0");
    ok(MPI_T_pvar_session_create(&session));
    shared = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &limit, &count));
    MPI_T_event_registration set = add_callback("tool_cvar_set", MPI_COMM_NULL, MPI_T_CB_REQUIRE_THREAD_SAFE, on_set,
                                                NULL);
    put_in = alone();
    for (long i = 0; i < THREADS; i++) {
        check(pthread_create(&threads[i], NULL, in_turn, (void *)i) == 0);
        check(pthread_join(threads[i], NULL) == 0);
    }
    pthread_barrier_init(&line, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, beside_others, (void *)i) == 0);
    pthread_barrier_wait(&line);
    /* Only this thread calls MPI, as all levels permit. */
    for (int i = 0; i < MESSAGES; i++, put_in++)
        message();
    for (int i = 0; i < THREADS; i++) {
        void *result;
        check(pthread_join(threads[i], &result) == 0);
        taken += *(unsigned long long *)result;
        free(result);
    }
    check_equal(taken + read_pvar(session, shared), put_in);
    check_equal(bad + bad_callbacks, 0);
    check_equal(called, writes);
    ok(MPI_T_event_handle_free(set, NULL, NULL));
    ok(MPI_T_cvar_handle_free(&limit));
    ok(MPI_T_pvar_session_free(&session));
    /* The interface counts the initialisations of this thread alone: the threads have finalised theirs. */
    ok(MPI_T_finalize());
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    return finish();
}
