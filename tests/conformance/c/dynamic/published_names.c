/* A published name is found by all processes of the user, of this job and of others, until its process withdraws it;
 * no two processes publish one name. */
#include "jobs.h"

static char service[64];

/* What the processes of another job do. */
static int look_from_other_job(const char *port)
{
    char found[MPI_MAX_PORT_NAME];
    ok(MPI_Lookup_name(service, MPI_INFO_NULL, found));
    check(strcmp(found, port) == 0);
    check_class(MPI_Publish_name(service, MPI_INFO_NULL, "other"), MPI_ERR_SERVICE);
    check_class(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    return finish_silently();
}

int main(int argc, char **argv)
{
    char found[MPI_MAX_PORT_NAME], longest[MPI_MAX_PORT_NAME], port[] = "a port, with blanks";
    int published;
    MPI_Info info;
    begin(&argc, &argv);
    return_errors();
    if (argc > 2) {
        snprintf(service, sizeof service, "%s", argv[1]);
        return look_from_other_job(argv[2]);
    }
    if (rank == 0)
        snprintf(service, sizeof service, "ferrum test %ld", (long)getpid());
    MPI_Bcast(service, sizeof service, MPI_CHAR, 0, MPI_COMM_WORLD);

    check_class(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
    check_class(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    MPI_Barrier(MPI_COMM_WORLD);

    /* All try at once. */
    published = class_of(MPI_Publish_name(service, MPI_INFO_NULL, port)) == MPI_SUCCESS;
    int all = published;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_equal(all, 1);
    ok(MPI_Lookup_name(service, MPI_INFO_NULL, found));
    check(strcmp(found, port) == 0);
    if (published) {
        check_class(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
        end_job(start_job(2, argv[0], service, port));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (published) {
        check_class(MPI_Unpublish_name(service, MPI_INFO_NULL, "another port"), MPI_ERR_SERVICE);
        check_class(MPI_Publish_name("", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
        ok(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_class(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
    MPI_Barrier(MPI_COMM_WORLD);

    /* Ports of any length that a program can receive; info objects are accepted. */
    if (rank == 0) {
        memset(longest, 'p', sizeof longest);
        longest[MPI_MAX_PORT_NAME - 1] = 0;
        ok(MPI_Info_create(&info));
        ok(MPI_Publish_name(service, info, longest));
        memset(found, 0, sizeof found);
        ok(MPI_Lookup_name(service, info, found));
        check(strcmp(found, longest) == 0);
        ok(MPI_Unpublish_name(service, info, longest));
        ok(MPI_Info_free(&info));
        char *beyond = calloc(MPI_MAX_PORT_NAME + 1, 1);
        memset(beyond, 'p', MPI_MAX_PORT_NAME);
        check_class(MPI_Publish_name(service, MPI_INFO_NULL, beyond), MPI_ERR_PORT);
        free(beyond);
    }
    return finish();
}
