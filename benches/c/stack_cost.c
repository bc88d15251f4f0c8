/* The cost of tools in front of the library: `stack_cost CALLS` calls MPI_Send to MPI_PROC_NULL, which the library ends
 * early, so that what tools add shows. Prints the nanoseconds of a call. */
#include "bench.h"

__attribute__((noinline)) void stack_cost_calls(int calls)
{
    int data = 1;
    for (int i = 0; i < calls; i++)
        MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    stack_cost_calls(100);
    double begin = now();
    stack_cost_calls(calls);
    report("send", (now() - begin) / calls * 1e9, "ns");
    MPI_Finalize();
    return 0;
}
