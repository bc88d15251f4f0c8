/* A program (PROGRAM_FILE) whose calls go to a tool that it loads itself: the first argument names the shared
 * object. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void *tool;

/* The function of the tool, or of the library that the tool is linked with. */
static void *symbol(const char *name)
{
    void *found = dlsym(tool, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

#define CALL(name, ...) (((__typeof__(&name))symbol(#name))(__VA_ARGS__))
#define MPI_Init(...) CALL(MPI_Init, __VA_ARGS__)
#define MPI_Finalize(...) CALL(MPI_Finalize, __VA_ARGS__)
#define MPI_Comm_rank(...) CALL(MPI_Comm_rank, __VA_ARGS__)
#define MPI_Comm_size(...) CALL(MPI_Comm_size, __VA_ARGS__)
#define MPI_Get_processor_name(...) CALL(MPI_Get_processor_name, __VA_ARGS__)
#define MPI_Wtime(...) CALL(MPI_Wtime, __VA_ARGS__)
#define MPI_Barrier(...) CALL(MPI_Barrier, __VA_ARGS__)
#define MPI_Send(...) CALL(MPI_Send, __VA_ARGS__)
#define MPI_Recv(...) CALL(MPI_Recv, __VA_ARGS__)
#define MPI_Sendrecv_replace(...) CALL(MPI_Sendrecv_replace, __VA_ARGS__)
#define main program
#include PROGRAM_FILE
#undef main

int main(int argc, char **argv)
{
    tool = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!tool) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "no tool was named");
        return 1;
    }
    return program(argc, argv);
}
