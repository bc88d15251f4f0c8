/* The C++ bindings of MPI-2.2, which MPI-3.0 has removed, as namespace MPI: for programs that were written to them.
 * Nothing but this header, those that it includes and mpi.h is needed; no library gets another symbol. mpi.h never
 * includes it.
 *
 * Every name is marked deprecated; a program that defines FERRUM_CXX_NO_WARNINGS before it includes this header gets
 * no warning. The header works from C++98 to C++23.
 *
 * What there is: the constants, the environment, error handling, memory, and the classes of handles with their main
 * functions. Each function calls the C function by its MPI_ name once, so that a profiling library for C sees it.
 *
 * Errors. With the error handler MPI::ERRORS_THROW_EXCEPTIONS on a communicator, window or file, a function of this
 * namespace throws MPI::Exception after the C function has returned; no exception passes through the library. A C
 * function that the program calls itself returns its code, as with MPI::ERRORS_RETURN. If a callback of the program
 * throws MPI::Exception, the function of this namespace that caused the callback throws it; an exception of another
 * type in a callback ends the program (std::terminate). The memory of an error handler of the program is not freed.
 *
 * stdio.h, fcntl.h and unistd.h define SEEK_SET, SEEK_CUR and SEEK_END as macros. This header includes them and
 * replaces the macros by constants of the same names and values, so that MPI::SEEK_SET can be written; they cannot be
 * compared in #if after it. */
#ifndef MPICXX_H_INCLUDED
#define MPICXX_H_INCLUDED

#ifndef __cplusplus
#error "mpicxx.h is for programs in C++; mpi.h is for programs in C"
#endif

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <exception>
#include <vector>

#ifdef FERRUM_CXX_NO_WARNINGS
#define FERRUM_CXX_OLD
#else
#define FERRUM_CXX_OLD __attribute__((deprecated))
#endif

namespace ferrum_stdio {
enum { seek_set = SEEK_SET, seek_cur = SEEK_CUR, seek_end = SEEK_END };
}
#undef SEEK_SET
#undef SEEK_CUR
#undef SEEK_END
static const int SEEK_SET = ferrum_stdio::seek_set;
static const int SEEK_CUR = ferrum_stdio::seek_cur;
static const int SEEK_END = ferrum_stdio::seek_end;
/* Other headers define them if they are no macros. */
#define SEEK_SET SEEK_SET
#define SEEK_CUR SEEK_CUR
#define SEEK_END SEEK_END

/* This header uses its own names. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Calls a function of C; what it and its callbacks have raised is thrown when it has returned. */
#define FERRUM_CXX_CALL(call_of_c)                                                                                     \
    do {                                                                                                               \
        ::MPI::detail::Call ferrum_call;                                                                               \
        ferrum_call.check(call_of_c);                                                                                  \
    } while (0)

#include "mpicxx_errors.h"
#include "mpicxx_handles.h"
#include "mpicxx_requests.h"
#include "mpicxx_comm.h"
#include "mpicxx_intracomm.h"
#include "mpicxx_win.h"
#include "mpicxx_file.h"
#include "mpicxx_callbacks.h"
#include "mpicxx_create.h"
#include "mpicxx_functions.h"
#include "mpicxx_constants.h"

#undef FERRUM_CXX_CALL
#pragma GCC diagnostic pop

#endif
