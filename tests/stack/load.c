/* A program without MPI that loads one with MPI, whose main is named `inner`, for itself alone. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return fprintf(stderr, "load: %s\n", dlerror()), 1;
    int (*inner)(int, char **) = (int (*)(int, char **))dlsym(object, "inner");
    return inner(argc - 1, argv + 1);
}
