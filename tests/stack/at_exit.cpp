// A program whose objects call MPI when they are destroyed, after main.
#include <mpi.h>

#include <cstdio>

struct Environment {
    Environment() { MPI_Init(nullptr, nullptr); }
    ~Environment()
    {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        std::printf("at_exit: finalized\n");
    }
};

static Environment environment;

int main()
{
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
