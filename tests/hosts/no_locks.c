/* Preloaded: a file system without locks of open files. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

int fcntl(int descriptor, int command, ...)
{
    static int (*next)(int, int, void *);
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK) {
        errno = ENOLCK;
        return -1;
    }
    if (!next)
        next = (int (*)(int, int, void *))dlsym(RTLD_NEXT, "fcntl");
    return next(descriptor, command, argument);
}
