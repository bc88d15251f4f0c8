/* Two jobs connect: with the arguments "accept" and FILE one writes the name of its port into the file; with "connect"
 * and FILE the other one reads it. A long message goes each way. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 100000 };

static int data[COUNT];

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", draft[4096];
    int accepts, wrong = 0;
    FILE *file;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    accepts = argc == 3 && !strcmp(argv[1], "accept");
    snprintf(draft, sizeof draft, "%s.draft", argc == 3 ? argv[2] : "port");
    if (accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        file = fopen(draft, "w");
        if (!file || fputs(port, file) < 0 || fclose(file) || rename(draft, argv[2]))
            MPI_Abort(MPI_COMM_WORLD, 2);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    } else {
        while (!(file = fopen(argv[2], "r")))
            usleep(10000);
        if (!fgets(port, sizeof port, file))
            MPI_Abort(MPI_COMM_WORLD, 2);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    }
    if (accepts) {
        for (int i = 0; i < COUNT; i++)
            data[i] = i;
        MPI_Send(data, COUNT, MPI_INT, 0, 3, other);
        memset(data, 0, sizeof data);
        MPI_Recv(data, COUNT, MPI_INT, 0, 4, other, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, COUNT, MPI_INT, 0, 3, other, MPI_STATUS_IGNORE);
        MPI_Send(data, COUNT, MPI_INT, 0, 4, other);
    }
    for (int i = 0; i < COUNT; i++)
        wrong += data[i] != i;
    printf("%s, %d wrong\n", accepts ? "accepted" : "connected", wrong);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return wrong != 0;
}
