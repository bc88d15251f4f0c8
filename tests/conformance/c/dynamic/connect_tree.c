/* Seven jobs connect by ports as a tree of three levels. Sums go up over the intercommunicators and a broadcast comes
 * down. The jobs connect and disconnect in another order each time: some with the job above first, some with those
 * below. */
#include "jobs.h"

enum { LEAVES = 4, CHILDREN = 2, ROUNDS = 4, SUMMED = 1000, LONG = 60000, MOST = 8 };

static const char *const limit = "45"; /* seconds that a connection may take */
static int job = 1;                    /* the job's place: those below job j are 2j and 2j + 1 */
static int root_size;

static int ranks_of(int of)
{
    return of == 1 ? root_size : 1 + of % 2;
}

/* What each process of a job adds to the first sum. */
static long word_of(int of, int at, int round)
{
    return 1000L * of + 10 * at + round;
}

/* The expected sum of a job and of all jobs below it. */
static long sum_below(int of, int round)
{
    long sum = 0;
    if (of >= 2 * LEAVES)
        return 0;
    for (int at = 0; at < ranks_of(of); at++)
        sum += word_of(of, at, round);
    return sum + sum_below(2 * of, round) + sum_below(2 * of + 1, round);
}

static int processes_below(int of)
{
    return of >= 2 * LEAVES ? 0 : ranks_of(of) + processes_below(2 * of) + processes_below(2 * of + 1);
}

static int is_leaf(void)
{
    return job >= LEAVES;
}

/* The intercommunicators of this job with the one above it and with those below it. */
static MPI_Comm above = MPI_COMM_NULL, below[CHILDREN];

/* The job's number and the number of processes come from all processes of the other job. */
static int number_of(MPI_Comm inter)
{
    int largest = -1, sum = -1, remote = -1;
    ok(MPI_Comm_remote_size(inter, &remote));
    ok(MPI_Allreduce(&job, &largest, 1, MPI_INT, MPI_MAX, inter));
    ok(MPI_Allreduce(&job, &sum, 1, MPI_INT, MPI_SUM, inter));
    check_equal(sum, largest * remote);
    check(largest == 1 || remote == ranks_of(largest));
    return largest;
}

static void connect_above(const char *port, MPI_Info info)
{
    ok(MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &above));
    check_equal(number_of(above), job / 2);
}

/* The jobs below connect in any order by one port. The last rank has it. */
static void accept_below(const char *port, MPI_Info info)
{
    below[0] = below[1] = MPI_COMM_NULL;
    for (int i = 0; i < CHILDREN; i++) {
        MPI_Comm inter;
        ok(MPI_Comm_accept(port, info, size - 1, MPI_COMM_WORLD, &inter));
        int other = number_of(inter);
        check_equal(other / 2, job);
        check(below[other % 2] == MPI_COMM_NULL);
        below[other % 2] = inter;
    }
}

/* Rank 0 of each job adds the sums of the jobs below it to those of its own job, and passes them to the job above. */
static void sum_up(int round)
{
    static long own[SUMMED], all[SUMMED], part[SUMMED];
    for (int i = 0; i < SUMMED; i++)
        own[i] = word_of(job, rank, round) + i;
    for (int child = 0; !is_leaf() && child < CHILDREN; child++) {
        int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL, of = 2 * job + child;
        ok(MPI_Reduce(NULL, part, SUMMED, MPI_LONG, MPI_SUM, root, below[child]));
        for (int i = 0; rank == 0 && i < SUMMED; i++) {
            check_equal(part[i], sum_below(of, round) + (long)i * processes_below(of));
            own[i] += part[i];
        }
    }
    if (job > 1) {
        ok(MPI_Reduce(own, NULL, SUMMED, MPI_LONG, MPI_SUM, 0, above));
    } else {
        ok(MPI_Reduce(own, all, SUMMED, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
        for (int i = 0; rank == 0 && i < SUMMED; i++)
            check_equal(all[i], sum_below(1, round) + (long)i * processes_below(1));
    }
}

/* One process of each job sends what its job has received to the jobs below. */
static void broadcast_down(int round)
{
    static long words[LONG];
    int sender = round % size;
    for (int i = 0; i < LONG; i++)
        words[i] = job == 1 && rank == sender ? 7L * i + round : -1;
    if (job > 1) {
        int above_sender;
        ok(MPI_Comm_remote_size(above, &above_sender));
        ok(MPI_Bcast(words, LONG, MPI_LONG, round % above_sender, above));
    }
    for (int child = CHILDREN - 1; !is_leaf() && child >= 0; child--)
        ok(MPI_Bcast(words, LONG, MPI_LONG, rank == sender ? MPI_ROOT : MPI_PROC_NULL, below[child]));
    for (int i = 0; (job > 1 || rank == sender) && i < LONG; i++)
        check_equal(words[i], 7L * i + round);
}

static void leave_above(void)
{
    if (job > 1) {
        ok(MPI_Comm_disconnect(&above));
        check(above == MPI_COMM_NULL);
    }
}

static void leave_below(int first)
{
    for (int i = 0; !is_leaf() && i < CHILDREN; i++) {
        MPI_Comm *inter = &below[(first + i) % CHILDREN];
        ok(MPI_Comm_disconnect(inter));
        check(*inter == MPI_COMM_NULL);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    char port[MPI_MAX_PORT_NAME] = "elsewhere";
    pid_t children[CHILDREN] = {0, 0};
    MPI_Info info;
    /* The role has the job's place and the number of processes of the first job. */
    root_size = size;
    check(size <= MOST);
    if (argc > 2)
        check_equal(sscanf(argv[1], "%d,%d", &job, &root_size), 2);
    check_equal(size, ranks_of(job));
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "timeout", limit));
    if (!is_leaf() && rank == size - 1) {
        ok(MPI_Open_port(MPI_INFO_NULL, port));
        for (int i = 0; i < CHILDREN; i++) {
            char role[40];
            snprintf(role, sizeof role, "%d,%d", 2 * job + i, root_size);
            children[i] = start_job(ranks_of(2 * job + i), argv[0], role, port);
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        int first_above = (job + round) % 2;
        if (job > 1 && first_above)
            connect_above(argv[2], info);
        if (!is_leaf())
            accept_below(port, info);
        if (job > 1 && !first_above)
            connect_above(argv[2], info);
        sum_up(round);
        broadcast_down(round);
        first_above = (job / 2 + round / 2) % 2;
        if (first_above)
            leave_above();
        leave_below(round % CHILDREN);
        if (!first_above)
            leave_above();
    }
    ok(MPI_Info_free(&info));
    if (children[0]) {
        ok(MPI_Close_port(port));
        for (int i = 0; i < CHILDREN; i++)
            end_job(children[i]);
    }
    return job > 1 ? finish_silently() : finish();
}
