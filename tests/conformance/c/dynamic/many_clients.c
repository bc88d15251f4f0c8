/* A server takes clients one after the other, and keeps neither memory nor descriptors. */
#include "jobs.h"

#include <dirent.h>

static int descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

static int mappings(void)
{
    int count = 0, letter;
    FILE *all = fopen("/proc/self/maps", "r");
    while ((letter = fgetc(all)) != EOF)
        count += letter == '\n';
    fclose(all);
    return count;
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    begin(&argc, &argv);
    int turns = atoi(argv[1]);
    if (argc > 2) {
        for (int i = 0; i < turns; i++) {
            int word = -1;
            ok(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
            ok(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE));
            check_equal(word, i);
            ok(MPI_Comm_disconnect(&inter));
        }
        return finish_silently();
    }
    char port[MPI_MAX_PORT_NAME] = "", number[16];
    pid_t child = 0;
    int before = 0, maps = 0;
    snprintf(number, sizeof number, "%d", turns);
    if (rank == 0) {
        ok(MPI_Open_port(MPI_INFO_NULL, port));
        child = start_job(1, argv[0], number, port);
    }
    for (int i = 0; i < turns; i++) {
        ok(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        if (rank == size - 1)
            ok(MPI_Send(&i, 1, MPI_INT, 0, 0, inter));
        ok(MPI_Comm_disconnect(&inter));
        if (i == turns / 2) {
            before = descriptors();
            maps = mappings();
        }
    }
    /* Over a network a thread closes some of the connections a moment later; half of the clients came in between. */
    check(descriptors() <= before + 4);
    check(mappings() <= maps + 4);
    if (rank == 0)
        end_job(child);
    return finish();
}
