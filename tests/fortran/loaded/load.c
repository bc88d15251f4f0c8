/* Loads shared objects one by one, and calls the function of each. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **paths)
{
    int failures = 0;
    for (int i = 1; i < count; i++) {
        void *loaded = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        if (!loaded) {
            printf("%s\n", dlerror());
            return 1;
        }
        int (*wrong)(void);
        *(void **)&wrong = dlsym(loaded, "wrong");
        /* The library of Fortran has no such function. */
        int result = wrong ? wrong() : 0;
        if (result != 0)
            printf("%s: %d\n", paths[i], result);
        failures += result != 0;
    }
    if (failures == 0)
        printf("No Errors\n");
    return failures;
}
