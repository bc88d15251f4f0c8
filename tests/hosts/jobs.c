/* Jobs on several hosts that start others, or connect with them:
 *   spawn N HOST     starts N processes, on HOST if that is no "-"; both groups exchange messages, merge and part
 *   multiple         starts two programs, one on each of two hosts
 *   nested HOST      starts a job, on HOST if that is no "-", that starts another one
 *   missing PROGRAM  starts a program that is not there, or that does not call MPI_Init, with the arguments that follow
 *   accept FILE      waits for a job whose port it writes into FILE
 *   connect FILE     connects with it
 *   publish NAME     the same by a published name; `look NAME` connects
 *   taken NAME       prints the error of publishing a name that a process of another host has published
 *   child-dies       starts processes of which one is killed
 *   parent-dies      starts processes, and a process of the first job is killed
 *   errors FILE      as accept, and the other job is killed; `errors-victim FILE` is that one
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void need(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "jobs: rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* Each process exchanges messages of several lengths with each of the other group. */
static void exchange(MPI_Comm inter)
{
    static const int lengths[] = {1, 8, 1000, 60000, 700000};
    int remote, own;
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_rank(inter, &own);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        int length = lengths[l];
        char *out = malloc(length), *in = malloc((size_t)length * remote);
        MPI_Request *requests = malloc(2 * remote * sizeof *requests);
        memset(out, 'a' + own, length);
        for (int peer = 0; peer < remote; peer++) {
            MPI_Irecv(in + (size_t)peer * length, length, MPI_CHAR, peer, 3, inter, &requests[peer]);
            MPI_Isend(out, length, MPI_CHAR, peer, 3, inter, &requests[remote + peer]);
        }
        MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE);
        for (int peer = 0; peer < remote; peer++)
            for (int i = 0; i < length; i++)
                need(in[(size_t)peer * length + i] == 'a' + peer, "wrong data");
        free(requests);
        free(in);
        free(out);
    }
}

/* All that two connected groups do. */
static void use(MPI_Comm inter, int high)
{
    MPI_Comm both;
    int one = 1, all = 0, own, remote, place;
    exchange(inter);
    MPI_Barrier(inter);
    MPI_Intercomm_merge(inter, high, &both);
    MPI_Comm_size(inter, &own);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, both);
    need(all == own + remote, "wrong number of processes");
    MPI_Comm_rank(both, &place);
    int *places = malloc(all * sizeof *places);
    MPI_Allgather(&place, 1, MPI_INT, places, 1, MPI_INT, both);
    for (int i = 0; i < all; i++)
        need(places[i] == i, "wrong order");
    free(places);
    MPI_Comm_free(&both);
}

/* Each process reports its host to rank 0 of the other group, which prints the hosts in their order. */
static void report_host(MPI_Comm parent)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    MPI_Get_processor_name(name, &length);
    MPI_Send(name, sizeof name, MPI_CHAR, 0, 9, parent);
}

static void print_hosts(MPI_Comm children, const char *what)
{
    int remote;
    MPI_Comm_remote_size(children, &remote);
    if (rank == 0) {
        printf("%s:", what);
        for (int i = 0; i < remote; i++) {
            char name[MPI_MAX_PROCESSOR_NAME];
            MPI_Recv(name, sizeof name, MPI_CHAR, i, 9, children, MPI_STATUS_IGNORE);
            printf(" %s", name);
        }
        printf("\n");
        fflush(stdout);
    }
}

static MPI_Comm spawn(char *program, const char *role, int number, const char *host)
{
    MPI_Comm children;
    MPI_Info info = MPI_INFO_NULL;
    char *arguments[] = {(char *)role, NULL};
    if (host && strcmp(host, "-")) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "host", host);
    }
    MPI_Comm_spawn(program, arguments, number, info, size - 1, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return children;
}

/* The port in a file, which appears whole. */
static void read_port(const char *file, char *port)
{
    FILE *from = NULL;
    for (int i = 0; i < 600 && !(from = fopen(file, "r")); i++)
        usleep(50000);
    need(from && fgets(port, MPI_MAX_PORT_NAME, from), "no port");
    fclose(from);
}

static MPI_Comm meet(const char *file, int accepts)
{
    MPI_Comm inter;
    char port[MPI_MAX_PORT_NAME] = "", part[4096];
    if (rank == 0 && accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        snprintf(part, sizeof part, "%s.part", file);
        FILE *to = fopen(part, "w");
        need(to && fputs(port, to) >= 0 && fclose(to) == 0 && rename(part, file) == 0, "the port cannot be written");
    } else if (rank == 0) {
        read_port(file, port);
    }
    if (accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    return inter;
}

/* The port of a name, once it is published. */
static void look_up(const char *service, char *port)
{
    int class = MPI_ERR_NAME;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < 600 && class == MPI_ERR_NAME; i++) {
        MPI_Error_class(MPI_Lookup_name(service, MPI_INFO_NULL, port), &class);
        if (class == MPI_ERR_NAME)
            usleep(50000);
    }
    need(class == MPI_SUCCESS, "the name is not found");
}

/* Meets another job by a name. */
static void meet_by_name(const char *service, int publishes)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (rank == 0 && publishes) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
    } else if (rank == 0) {
        look_up(service, port);
    }
    if (publishes)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    use(inter, !publishes);
    MPI_Comm_disconnect(&inter);
    if (rank == 0)
        printf("%s: connected and parted\n", publishes ? "publish" : "look");
}

static void find_taken(const char *service)
{
    char port[MPI_MAX_PORT_NAME], text[MPI_MAX_ERROR_STRING];
    int class, length;
    look_up(service, port);
    int code = MPI_Publish_name(service, MPI_INFO_NULL, "p");
    MPI_Error_class(code, &class);
    need(class == MPI_ERR_SERVICE, "the name is not taken");
    MPI_Error_string(code, text, &length);
    printf("%s\n", text);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    const char *role = argc > 1 ? argv[1] : "";
    if (!strcmp(role, "child") || !strcmp(role, "child-nested")) {
        need(parent != MPI_COMM_NULL, "no parent");
        report_host(parent);
        use(parent, 1);
        if (!strcmp(role, "child-nested")) {
            inter = spawn(argv[0], "child", 2, NULL);
            print_hosts(inter, "grandchildren");
            use(inter, 0);
            MPI_Comm_disconnect(&inter);
        }
        MPI_Comm_disconnect(&parent);
    } else if (!strcmp(role, "child-waits")) {
        MPI_Barrier(parent);
        if (rank == size - 1)
            raise(SIGKILL);
        MPI_Barrier(parent);
    } else if (!strcmp(role, "child-stays")) {
        MPI_Barrier(parent);
        MPI_Barrier(parent);
    } else if (!strcmp(role, "spawn") || !strcmp(role, "nested")) {
        const int nested = !strcmp(role, "nested");
        inter = spawn(argv[0], nested ? "child-nested" : "child", nested ? 2 : atoi(argv[2]), argv[nested ? 2 : 3]);
        print_hosts(inter, "children");
        use(inter, 0);
        MPI_Comm_disconnect(&inter);
    } else if (!strcmp(role, "multiple")) {
        char *programs[] = {argv[0], argv[0]}, *arguments[] = {"child", NULL}, **lists[] = {arguments, arguments};
        int numbers[] = {1, 2}, codes[3] = {-1, -1, -1};
        MPI_Info infos[2];
        for (int i = 0; i < 2; i++) {
            MPI_Info_create(&infos[i]);
            MPI_Info_set(infos[i], "host", i ? "h1" : "h2");
        }
        MPI_Comm_spawn_multiple(2, programs, lists, numbers, infos, 0, MPI_COMM_WORLD, &inter, codes);
        for (int i = 0; i < 3; i++)
            need(codes[i] == MPI_SUCCESS, "a process was not started");
        print_hosts(inter, "children");
        use(inter, 0);
        MPI_Comm_disconnect(&inter);
        for (int i = 0; i < 2; i++)
            MPI_Info_free(&infos[i]);
    } else if (!strcmp(role, "missing")) {
        int codes[2] = {0, 0}, class;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int code = MPI_Comm_spawn(argv[2], argv + 3, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
        MPI_Error_class(code, &class);
        need(class == MPI_ERR_SPAWN && codes[0] != MPI_SUCCESS && codes[1] != MPI_SUCCESS, "no error");
        need(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "the processes cannot reach each other");
        if (rank == 0)
            printf("refused\n");
    } else if (!strcmp(role, "accept") || !strcmp(role, "connect")) {
        const int accepts = !strcmp(role, "accept");
        inter = meet(argv[2], accepts);
        use(inter, !accepts);
        MPI_Comm_disconnect(&inter);
        if (rank == 0)
            printf("%s: connected and parted\n", role);
    } else if (!strcmp(role, "publish") || !strcmp(role, "look")) {
        meet_by_name(argv[2], !strcmp(role, "publish"));
    } else if (!strcmp(role, "taken")) {
        find_taken(argv[2]);
    } else if (!strcmp(role, "errors")) {
        int class, word = 0;
        inter = meet(argv[2], 1);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        MPI_Barrier(inter);
        MPI_Error_class(MPI_Recv(&word, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE), &class);
        need(class == MPI_ERR_PROC_ABORTED, "no loss");
        MPI_Error_class(MPI_Barrier(inter), &class);
        need(class == MPI_ERR_PROC_ABORTED, "no loss in a barrier");
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            printf("the others are lost\n");
    } else if (!strcmp(role, "errors-victim")) {
        inter = meet(argv[2], 0);
        MPI_Barrier(inter);
        raise(SIGKILL);
    } else if (!strcmp(role, "child-dies") || !strcmp(role, "parent-dies")) {
        const int child = !strcmp(role, "child-dies");
        inter = spawn(argv[0], child ? "child-waits" : "child-stays", 4, NULL);
        MPI_Barrier(inter);
        if (!child && rank == size - 1)
            raise(SIGKILL);
        MPI_Barrier(inter);
    } else {
        need(0, "no such role");
    }
    MPI_Finalize();
    return 0;
}
