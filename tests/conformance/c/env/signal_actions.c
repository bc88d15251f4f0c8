/* MPI_Init changes no action of the program for a signal: neither the default ones nor its own. */
#include "check.h"
#include <signal.h>

enum { LAST = 64, RESTORER = 0x04000000 };

static void handler(int signal)
{
    (void)signal;
}

int main(int argc, char **argv)
{
    struct sigaction before[LAST + 1], now;
    signal(SIGTERM, handler);
    signal(SIGUSR1, SIG_IGN);
    for (int number = 1; number <= LAST; number++)
        sigaction(number, NULL, &before[number]);
    begin(&argc, &argv);
    for (int number = 1; number <= LAST; number++) {
        /* The C library refuses the numbers that it uses itself. */
        if (sigaction(number, NULL, &now) != 0)
            continue;
        if (now.sa_handler != before[number].sa_handler)
            fprintf(stderr, "rank %d: the action for signal %d is another one\n", rank, number);
        check(now.sa_handler == before[number].sa_handler);
        /* The C library sets a flag of its own with each action, also with one that is restored. */
        check_equal(now.sa_flags & ~RESTORER, before[number].sa_flags & ~RESTORER);
    }
    return finish();
}
