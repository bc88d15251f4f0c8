/* A sampling tool: it allocates a handle of every variable, also for each communicator that the program creates (it
 * wraps their constructors), and a thread reads all of them a thousand times a second during communication. No read
 * fails, sums never fall, and when a communicator is freed its variables agree with the counts of the tool's
 * wrappers. The argument is the time in seconds. */
#include "tool.h"
#include <pthread.h>
#include <time.h>

enum { COMMS = 8, HANDLES = 4096, ELEMENTS = 4096 };

struct taken {
    MPI_T_pvar_handle handle;
    MPI_Comm comm;
    int index, grows, is_double, count;
    double last;
};

static MPI_T_pvar_session session;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct taken taken[HANDLES];
static int handles, over, failures, fallen, parted;
static long rounds;
static int messages_index, bytes_index;

/* The wrappers' counts for each communicator. */
static struct { MPI_Comm comm; unsigned long long messages, bytes; } own[COMMS];

/* Handles of all variables that are bound to communicators, for this one; for MPI_COMM_NULL, of all that are bound
 * to no object. */
static void take_all(MPI_Comm comm)
{
    int number = 0, wanted = comm == MPI_COMM_NULL ? MPI_T_BIND_NO_OBJECT : MPI_T_BIND_MPI_COMM;
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        struct taken new = {.comm = comm, .index = i, .is_double = info.type == MPI_DOUBLE};
        new.grows = info.class == MPI_T_PVAR_CLASS_COUNTER || info.class == MPI_T_PVAR_CLASS_AGGREGATE ||
                    info.class == MPI_T_PVAR_CLASS_TIMER;
        if (info.bind != wanted || info.type == MPI_CHAR)
            continue;
        ok(MPI_T_pvar_handle_alloc(session, i, &comm, &new.handle, &new.count));
        check(new.count <= ELEMENTS && handles < HANDLES);
        if (!info.continuous)
            ok(MPI_T_pvar_start(session, new.handle));
        pthread_mutex_lock(&lock);
        taken[handles++] = new;
        pthread_mutex_unlock(&lock);
    }
}

static int place_of(MPI_Comm comm)
{
    for (int place = 0; place < COMMS; place++)
        if (own[place].comm == comm)
            return place;
    check(!"a communicator that the tool has met");
    return 0;
}

static void meet(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    int place = place_of(MPI_COMM_NULL);
    own[place].comm = comm;
    own[place].messages = own[place].bytes = 0;
    take_all(comm);
}

/* Reads the communicator's values, and frees its handles. */
static void part(MPI_Comm comm)
{
    int place = place_of(comm);
    unsigned long long value = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < handles;) {
        if (taken[i].comm != comm) {
            i++;
            continue;
        }
        if (taken[i].index == messages_index || taken[i].index == bytes_index) {
            ok(MPI_T_pvar_read(session, taken[i].handle, &value));
            check_equal(value, taken[i].index == messages_index ? own[place].messages : own[place].bytes);
        }
        ok(MPI_T_pvar_handle_free(session, &taken[i].handle));
        taken[i] = taken[--handles];
    }
    pthread_mutex_unlock(&lock);
    own[place].comm = MPI_COMM_NULL;
    parted++;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *new)
{
    int result = PMPI_Comm_dup(comm, new);
    meet(*new);
    return result;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *new)
{
    int result = PMPI_Comm_split(comm, color, key, new);
    meet(*new);
    return result;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    part(*comm);
    return PMPI_Comm_free(comm);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int each = 0, place = place_of(comm);
    PMPI_Type_size(type, &each);
    own[place].messages++;
    own[place].bytes += (unsigned long long)count * (unsigned long long)each;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

/* Reads all variables repeatedly. */
static void *sample(void *unused)
{
    static union { double real[ELEMENTS]; unsigned long long whole[ELEMENTS]; } values;
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < handles; i++) {
            values.whole[0] = 0;
            failures += MPI_T_pvar_read(session, taken[i].handle, &values) != MPI_SUCCESS;
            double now = taken[i].is_double ? values.real[0] : (double)values.whole[0];
            fallen += taken[i].grows && now < taken[i].last;
            taken[i].last = now;
        }
        pthread_mutex_unlock(&lock);
        rounds++;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return unused;
}

/* The program: a ring of messages, on communicators that are created and freed. */
static void program(double seconds)
{
    double end = MPI_Wtime() + seconds;
    for (int go = 1; go;) {
        MPI_Comm dup, half;
        static char data[20000];
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        ok(MPI_Comm_split(dup, rank % 2, 0, &half));
        MPI_Comm comms[] = {dup, half};
        for (int i = 0; i < 2000; i++) {
            int me, members, length = i % 100 == 0 ? 20000 : i % 50;
            MPI_Request request;
            MPI_Comm comm = comms[i % 2];
            ok(MPI_Comm_rank(comm, &me));
            ok(MPI_Comm_size(comm, &members));
            ok(MPI_Irecv(data, 20000, MPI_CHAR, (me + members - 1) % members, 1, comm, &request));
            static char out[20000];
            ok(MPI_Send(out, length, MPI_CHAR, (me + 1) % members, 1, comm));
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        ok(MPI_Comm_free(&half));
        ok(MPI_Comm_free(&dup));
        go = MPI_Wtime() < end;
        ok(MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    pthread_t sampler;
    begin(&argc, &argv);
    tool_begin();
    for (int i = 0; i < COMMS; i++)
        own[i].comm = MPI_COMM_NULL;
    ok(MPI_T_pvar_session_create(&session));
    messages_index = find_pvar("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    bytes_index = find_pvar("p2p_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE);
    take_all(MPI_COMM_NULL);
    take_all(MPI_COMM_WORLD);
    pthread_create(&sampler, NULL, sample, NULL);
    program(argc > 1 ? atof(argv[1]) : 1);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(sampler, NULL);
    check(rounds > 0 && parted > 0);
    check_equal(failures, 0);
    check_equal(fallen, 0);
    if (rank == 0)
        fprintf(stderr, "%ld samples of %d variables, %d communicators\n", rounds, handles, parted);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
