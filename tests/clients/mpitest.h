/* The functions of MPICH's test harness that the test programs of the suite use. The programs are unchanged and
 * include this header in place of the harness's own, whose functions for
 * intercommunicators and new processes would require more of a library than the programs do. */
#ifndef FERRUM_MPITEST_H
#define FERRUM_MPITEST_H

#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MTEST_HAVE_MIN_MPI_VERSION(major, minor) 1
#define MTEST_VG_MEM_INIT(address, size) memset(address, 0, size)
#define MTEST_THREAD_RETURN_TYPE void *
#define MTEST_THREAD_RETVAL_IGN NULL

static inline void MTest_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int initialized;
    MPI_Initialized(&initialized);
    if (initialized)
        MPI_Query_thread(provided);
    else
        MPI_Init_thread(argc, argv, required, provided);
}

static inline void MTest_Init(int *argc, char ***argv)
{
    int provided;
    MTest_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

/* Rank 0 reports the errors of all processes, then MPI ends. */
static inline void MTest_Finalize(int errors)
{
    int all = 0, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf(" No Errors\n");
    else if (rank == 0)
        printf(" Found %d errors\n", all);
    MPI_Finalize();
}

static inline void MTestPrintError(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    printf("%s\n", text);
}

static inline int MTestReturnValue(int errors)
{
    return errors != 0;
}

static inline void MTestPrintfMsg(int level, const char format[], ...)
{
    (void)level;
    (void)format;
}

enum { MTEST_THREADS = 64 };
static pthread_t mtest_thread[MTEST_THREADS];
static int mtest_threads;

static inline int MTest_Start_thread(void *(*function)(void *), void *argument)
{
    if (mtest_threads == MTEST_THREADS) return 1;
    return pthread_create(&mtest_thread[mtest_threads++], NULL, function, argument);
}

static inline int MTest_Join_threads(void)
{
    int failures = 0;
    while (mtest_threads > 0)
        failures += pthread_join(mtest_thread[--mtest_threads], NULL) != 0;
    return failures;
}

#endif
