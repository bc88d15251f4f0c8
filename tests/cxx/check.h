/* Functions for the programs of namespace MPI: `check` counts and prints failures, `finish` prints "No Errors" if no
 * rank has any. */
#ifndef FERRUM_CXX_CHECK_H
#define FERRUM_CXX_CHECK_H

#include <mpicxx.h>

static int wrong;

static inline void check_at(bool right, const char *file, int line, const char *condition)
{
    if (!right && wrong++ < 10)
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
}

#define check(condition) check_at(condition, __FILE__, __LINE__, #condition)

/* The statement throws an MPI::Exception of this class. */
#define throws(statement, expected)                                                                                    \
    do {                                                                                                               \
        bool thrown = false;                                                                                           \
        try {                                                                                                          \
            statement;                                                                                                 \
        } catch (const MPI::Exception &exception) {                                                                    \
            thrown = true;                                                                                             \
            check(exception.Get_error_class() == (expected));                                                          \
            check(MPI::Get_error_class(exception.Get_error_code()) == (expected));                                     \
            check(strlen(exception.Get_error_string()) > 0 && exception.what() == exception.Get_error_string());       \
        }                                                                                                              \
        check(thrown);                                                                                                 \
    } while (0)

/* The statement throws nothing. */
#define silent(statement)                                                                                              \
    do {                                                                                                               \
        bool thrown = false;                                                                                           \
        try {                                                                                                          \
            statement;                                                                                                 \
        } catch (const MPI::Exception &) {                                                                             \
            thrown = true;                                                                                             \
        }                                                                                                              \
        check(!thrown);                                                                                                \
    } while (0)

static inline int finish()
{
    int total = 0, rank = MPI::COMM_WORLD.Get_rank();
    MPI::COMM_WORLD.Allreduce(&wrong, &total, 1, MPI::INT, MPI::SUM);
    MPI::Finalize();
    if (rank == 0)
        printf(total ? "errors\n" : "No Errors\n");
    return total != 0;
}

#endif
