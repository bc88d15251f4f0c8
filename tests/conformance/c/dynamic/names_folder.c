/* Names in a folder that hosts share (control variable net_names_folder): a published name has one file, which goes
 * with the name, or at the end of its process; the file of a killed process of this host does not count. A folder that
 * is missing, or into which others may write, is an error. */
#include "jobs.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

static const double limit_s = 20;
static char folder[200];

/* Number of files, but for the two entries of each folder. */
static int files(void)
{
    int count = 0;
    DIR *list = opendir(folder);
    check(list != NULL);
    while (list && readdir(list))
        count++;
    if (list)
        closedir(list);
    return count - 2;
}

static void set_folder(const char *path)
{
    int index, count, provided;
    MPI_T_cvar_handle handle;
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    ok(MPI_T_cvar_get_index("net_names_folder", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    check(count > (int)strlen(path));
    ok(MPI_T_cvar_write(handle, path));
    ok(MPI_T_cvar_handle_free(&handle));
    ok(MPI_T_finalize());
}

/* What other jobs do: publish the name, and end without withdrawing it, or are killed. */
static int of_other_job(const char *service, const char *role)
{
    ok(MPI_Publish_name(service, MPI_INFO_NULL, role));
    if (!strcmp(role, "stays"))
        for (;;)
            pause();
    return finish_silently();
}

int main(int argc, char **argv)
{
    char found[MPI_MAX_PORT_NAME], service[256], text[MPI_MAX_ERROR_STRING];
    int length;
    begin(&argc, &argv);
    return_errors();
    if (argc > 2) {
        /* If nobody kills it. */
        alarm(60);
        return of_other_job(argv[1], argv[2]);
    }
    if (rank == 0) {
        snprintf(folder, sizeof folder, "/tmp/ferrum names XXXXXX");
        check(mkdtemp(folder) != NULL);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(service, sizeof service, "service of %s", folder);
    set_folder(folder);
    MPI_Barrier(MPI_COMM_WORLD);

    if (rank == 0)
        ok(MPI_Publish_name(service, MPI_INFO_NULL, "the port"));
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_Lookup_name(service, MPI_INFO_NULL, found));
    check(strcmp(found, "the port") == 0);
    check_equal(files(), 1);
    check_class(MPI_Publish_name(service, MPI_INFO_NULL, "mine"), MPI_ERR_SERVICE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        ok(MPI_Unpublish_name(service, MPI_INFO_NULL, "the port"));
        check_equal(files(), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_class(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
    MPI_Barrier(MPI_COMM_WORLD);

    if (rank == 0) {
        int status = -1;
        double end = MPI_Wtime() + limit_s;
        check_equal(setenv("FERRUM_NET_NAMES_FOLDER", folder, 1), 0);
        end_job(start_job(0, argv[0], service, "ends"));
        check_equal(files(), 0);
        pid_t child = start_job(0, argv[0], service, "stays");
        while (class_of(MPI_Lookup_name(service, MPI_INFO_NULL, found)) == MPI_ERR_NAME && MPI_Wtime() < end)
            usleep(1000);
        check(strcmp(found, "stays") == 0);
        check_equal(kill(child, SIGKILL), 0);
        check_equal(waitpid(child, &status, 0), child);
        check_equal(files(), 1);
        check_class(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
        ok(MPI_Publish_name(service, MPI_INFO_NULL, "again"));
        check_equal(files(), 1);
        ok(MPI_Lookup_name(service, MPI_INFO_NULL, found));
        check(strcmp(found, "again") == 0);
        ok(MPI_Unpublish_name(service, MPI_INFO_NULL, "again"));

        check_equal(chmod(folder, 0777), 0);
        check_class(MPI_Publish_name(service, MPI_INFO_NULL, "p"), MPI_ERR_OTHER);
        check_class(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_OTHER);
        check_equal(rmdir(folder), 0);
        int code = MPI_Publish_name(service, MPI_INFO_NULL, "p");
        check_class(code, MPI_ERR_OTHER);
        ok(MPI_Error_string(code, text, &length));
        check(strstr(text, folder) != NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    set_folder("");
    if (rank == 0) {
        ok(MPI_Publish_name(service, MPI_INFO_NULL, "p"));
        ok(MPI_Unpublish_name(service, MPI_INFO_NULL, "p"));
    }
    return finish();
}
