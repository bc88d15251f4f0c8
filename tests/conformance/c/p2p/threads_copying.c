/* A long copy within MPI_Pack, MPI_Unpack, MPI_Pack_external, MPI_Unpack_external or MPI_Sendrecv_replace does not keep
 * other threads from calling: the copy reaches a page that it may not touch, and goes on when another thread has
 * completed its calls. */
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH = 8 << 20, CALLS = 10, SECONDS = 60 };

static atomic_int copying, called, late;
static char *block;
static size_t page;

/* The copy touches the page. Waits for the calls of the other thread, and allows the access. */
static void touched(int number)
{
    struct timespec pause = {0, 1000000};
    atomic_store(&copying, 1);
    for (long turn = 0; !atomic_load(&called); turn++) {
        if (turn > SECONDS * 1000L) {
            atomic_store(&late, 1);
            break;
        }
        nanosleep(&pause, NULL);
    }
    if (mprotect(block + LENGTH / 2, page, PROT_READ | PROT_WRITE) != 0)
        _exit(3);
    (void)number;
}

static void *call(void *unused)
{
    struct timespec pause = {0, 100000};
    while (!atomic_load(&copying))
        nanosleep(&pause, NULL);
    for (int i = 0; i < CALLS; i++) {
        int got = -1;
        ok(MPI_Sendrecv(&i, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        check_equal(got, i);
    }
    atomic_store(&called, 1);
    return unused;
}

/* One call, of which the page stops the copy. */
static void run(int which, char *other)
{
    pthread_t thread;
    int position = 0;
    MPI_Aint place = 0;
    MPI_Status status;
    int count = LENGTH / (int)sizeof(int);
    atomic_store(&copying, 0);
    atomic_store(&called, 0);
    memset(block, 7 + which, LENGTH);
    memset(other, 20 + which, LENGTH);
    if (mprotect(block + LENGTH / 2, page, PROT_NONE) != 0)
        exit(3);
    pthread_create(&thread, NULL, call, NULL);
    switch (which) {
    case 0:
        ok(MPI_Pack(block, count, MPI_INT, other, LENGTH, &position, MPI_COMM_SELF));
        break;
    case 1:
        ok(MPI_Unpack(other, LENGTH, &position, block, count, MPI_INT, MPI_COMM_SELF));
        break;
    case 2:
        ok(MPI_Pack_external("external32", block, count, MPI_INT, other, LENGTH, &place));
        break;
    case 3:
        ok(MPI_Unpack_external("external32", other, LENGTH, &place, block, count, MPI_INT));
        break;
    case 4:
        ok(MPI_Sendrecv_replace(block, count, MPI_INT, 0, 3, 0, 3, MPI_COMM_SELF, &status));
        break;
    }
    check(atomic_load(&copying));
    pthread_join(thread, NULL);
    check(!atomic_load(&late));
    check(which == 4 || memcmp(block, other, LENGTH) == 0);
    check_equal(block[LENGTH - 1], which == 1 || which == 3 ? 20 + which : 7 + which);
}

int main(int argc, char **argv)
{
    struct sigaction action, before;
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    page = (size_t)sysconf(_SC_PAGESIZE);
    block = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *other = malloc(LENGTH);
    memset(&action, 0, sizeof action);
    action.sa_handler = touched;
    sigaction(SIGSEGV, &action, &before);
    for (int which = 0; which < 5; which++)
        run(which, other);
    sigaction(SIGSEGV, &before, NULL);
    munmap(block, LENGTH);
    free(other);
    return finish();
}
