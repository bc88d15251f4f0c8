/* Random mixes: several threads, each with communicators of its own, have several collective operations of all forms
 * and messages under way at once, and complete them in any order.
 * Arguments: a seed, the number of batches, `tolerant` as in every.c, the number of threads. */
#include "tasks.h"
#include <pthread.h>

enum { AT_ONCE = 6, THREADS = 4, REQUESTS = AT_ONCE + 2 };

struct thread {
    int number, batches;
    uint64_t seed; /* the same on all processes */
    uint64_t own;  /* for the order of completion */
    struct place places[PLACES];
    MPI_Comm messages;
    struct task tasks[AT_ONCE];
    int task_count;
    MPI_Request requests[REQUESTS];
    unsigned char *out, *in;
    int bytes, out_seed, in_seed;
    pthread_t thread;
};

static struct thread threads[THREADS];

static void fill(unsigned char *to, int bytes, int seed)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(scramble((unsigned)seed + (unsigned)i / 8) >> i % 8 * 8);
}

/* Sends to one rank and receives from another, with the other operations under way. */
static void start_messages(struct thread *thread, uint64_t *state)
{
    int rank, size;
    MPI_Comm_rank(thread->messages, &rank);
    MPI_Comm_size(thread->messages, &size);
    int shift = (int)draw(state, (unsigned)size), random = (int)draw(state, 1 << 20);
    thread->bytes = (int)draw(state, 8) == 0 ? 100000 : (int)draw(state, 2000);
    thread->out = malloc((size_t)thread->bytes + 1);
    thread->in = calloc((size_t)thread->bytes + 1, 1);
    thread->in_seed = random + (rank - shift + size) % size * 7919;
    fill(thread->out, thread->bytes, random + rank * 7919);
    OK(MPI_Irecv(thread->in, thread->bytes, MPI_BYTE, (rank - shift + size) % size, 3, thread->messages,
                 &thread->requests[AT_ONCE]));
    OK(MPI_Isend(thread->out, thread->bytes, MPI_BYTE, (rank + shift) % size, 3, thread->messages,
                 &thread->requests[AT_ONCE + 1]));
}

static void check_messages(struct thread *thread)
{
    unsigned char *expected = malloc((size_t)thread->bytes + 1);
    fill(expected, thread->bytes, thread->in_seed);
    CHECK(memcmp(expected, thread->in, (size_t)thread->bytes) == 0, "a message of %d bytes is wrong", thread->bytes);
    free(expected);
    free(thread->out);
    free(thread->in);
}

/* Completes all requests in one of the ways that there are, in an order of the process's own. */
static void complete(struct thread *thread)
{
    MPI_Request *requests = thread->requests;
    int way = (int)draw(&thread->own, tolerant ? 3 : 5), index, flag = 0, indices[REQUESTS];
    if (way == 0) {
        OK(MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE));
    } else if (way == 1) {
        do
            OK(MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE));
        while (index != MPI_UNDEFINED);
    } else if (way == 2) {
        do
            OK(MPI_Testsome(REQUESTS, requests, &index, indices, MPI_STATUSES_IGNORE));
        while (index != MPI_UNDEFINED);
    } else if (way == 3) {
        while (!flag)
            OK(MPI_Testall(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE));
    } else {
        int order[REQUESTS];
        shuffle(order, REQUESTS, &thread->own);
        for (int i = 0; i < REQUESTS; i++)
            OK(MPI_Wait(&requests[order[i]], MPI_STATUS_IGNORE));
    }
}

/* A call for a place, the same on all processes; NULL if the library has none. */
static const struct call *choose(enum kind kind, uint64_t *state)
{
    for (int attempt = 0; attempt < 1000; attempt++) {
        const struct call *call = &calls[draw(state, LENGTH(calls))];
        /* Blocking calls, of which only one is under way at a time, are the rarer ones. */
        if (applies(call, kind) && (call->form != BLOCKING || attempt > 4))
            return call;
    }
    return NULL;
}

static void start_batch(struct thread *thread, uint64_t *state)
{
    /* In half of the batches all operations are on one communicator. */
    int wanted = 1 + (int)draw(state, AT_ONCE), apart = (int)draw(state, 2);
    unsigned one = draw(state, (unsigned)place_count);
    for (int i = 0; i < wanted; i++) {
        const struct place *place = &thread->places[apart ? draw(state, (unsigned)place_count) : one];
        const struct call *call = choose(place->kind, state);
        uint64_t seed = scramble(*state + 17);
        if (call == NULL || place->comm == MPI_COMM_NULL)
            continue;
        struct task *task = &thread->tasks[thread->task_count];
        prepare(task, call, place, seed, NULL, NULL);
        begin_round(task);
        thread->requests[thread->task_count++] = task->request;
    }
}

static void *run(void *argument)
{
    struct thread *thread = argument;
    uint64_t state = mixed(thread->seed, 77, (uint64_t)thread->number);
    /* Once a communicator has had a blocking operation, other ones may go through shared memory too. */
    for (int p = 0; p < place_count; p++)
        if (draw(&state, 3) > 0 && thread->places[p].comm != MPI_COMM_NULL)
            OK(MPI_Barrier(thread->places[p].comm));
    for (int batch = 0; batch < thread->batches; batch++) {
        int again = 1;
        thread->task_count = 0;
        for (int i = 0; i < REQUESTS; i++)
            thread->requests[i] = MPI_REQUEST_NULL;
        if (batch % 2)
            start_messages(thread, &state);
        start_batch(thread, &state);
        if (batch % 2 == 0)
            start_messages(thread, &state);
        while (again) {
            again = 0;
            complete(thread);
            for (int i = 0; i < thread->task_count; i++) {
                struct task *task = &thread->tasks[i];
                if (task->round >= task->rounds)
                    continue;
                task->request = thread->requests[i];
                int more = end_round(task);
                thread->requests[i] = MPI_REQUEST_NULL;
                if (more) {
                    begin_round(task);
                    thread->requests[i] = task->request;
                    again = 1;
                }
            }
        }
        check_messages(thread);
        for (int i = 0; i < thread->task_count; i++)
            release(&thread->tasks[i]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int batches = argc > 2 ? atoi(argv[2]) : 50, count = argc > 4 ? atoi(argv[4]) : 3, provided, rank;
    tolerant = argc > 3 && strcmp(argv[3], "tolerant") == 0;
    count = count < 1 || count > THREADS ? 1 : count;
    MPI_Init_thread(&argc, &argv, count > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    print_seed(rank, seed);
    make_all(seed);
    for (int t = 0; t < count; t++) {
        struct thread *thread = &threads[t];
        thread->number = t;
        thread->batches = batches;
        thread->seed = seed;
        thread->own = mixed(seed, 1 + (uint64_t)rank, (uint64_t)t);
        duplicate_places(thread->places);
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &thread->messages));
        OK(MPI_Comm_set_errhandler(thread->messages, MPI_ERRORS_RETURN));
    }
    for (int t = 1; t < count; t++)
        pthread_create(&threads[t].thread, NULL, run, &threads[t]);
    run(&threads[0]);
    for (int t = 1; t < count; t++)
        pthread_join(threads[t].thread, NULL);
    for (int t = 0; t < count; t++) {
        free_places(threads[t].places);
        OK(MPI_Comm_free(&threads[t].messages));
    }
    if (rank == 0)
        printf("seed %llu: %d threads, %d batches each\n", (unsigned long long)seed, count, batches);
    free_all();
    return finish();
}
