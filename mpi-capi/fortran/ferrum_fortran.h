/* What the routines of Fortran share: the conversion of handles, buffers, statuses and texts between Fortran and C.
 *
 * A routine converts its arguments, calls one function of C, and converts the results. Everything here uses names of
 * the profiling interface and functions of the library beyond the standard, so that a tool gets the call of the routine
 * and no other. A default INTEGER is an int, a default LOGICAL is an int of 0 or 1, and the length of a text is a
 * size_t behind all other arguments, as gfortran and compilers that are compatible with it have them. */
#ifndef FERRUM_FORTRAN_H
#define FERRUM_FORTRAN_H

#define FERRUM_REMOVED_FUNCTIONS
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FERRUM_BODY static inline __attribute__((always_inline))
#define FERRUM_WEAK(target) __attribute__((weak, alias(#target)))
#define FERRUM_LOCAL __attribute__((visibility("hidden")))

/* Elements of a list, and characters of a text, that need no memory of the heap. */
#define FERRUM_FEW 16
#define FERRUM_FEW_CHARACTERS 256

/* A procedure of the program. */
typedef void ferrum_procedure(void);

#include "variables.h"

/* Functions of the library beyond the standard (mpi-capi/src/fortran_language.rs). */

/* How Fortran holds the values of attributes and the extra state of their callbacks: as INTEGER, or as INTEGER of the
 * kind MPI_ADDRESS_KIND. */
enum { FERRUM_INTEGER = 1, FERRUM_ADDRESS = 2 };

/* Kinds of objects with attributes. */
enum { FERRUM_COMM = 1, FERRUM_TYPE = 2, FERRUM_WIN = 3 };

/* The next object that this thread creates with one of these procedures calls it as Fortran demands. 0, 0, 0 ends
 * that. */
void ferrum_fortran_procedures(int form, ferrum_procedure *first, ferrum_procedure *second);

/* The value that this thread now sets for this key is an integer of Fortran. 0, 0, 0 ends that. */
void ferrum_fortran_attribute(int form, int keyval, uintptr_t value);

/* The value that Fortran gets for an attribute, for which C has got `found`. */
intptr_t ferrum_fortran_value(int holder, uintptr_t object, int keyval, void *found);

/* Results. */

static inline void ferrum_return(MPI_Fint *ierror, int error)
{
    if (ierror)
        *ierror = error;
}

/* Calls the error handler for a list or text without memory for its copy. */
FERRUM_LOCAL void ferrum_no_memory(void);

/* Indices count from 0 in C and from 1 in Fortran. */
static inline void ferrum_from_one(MPI_Fint *indices, MPI_Fint count)
{
    for (MPI_Fint i = 0; i < count; i++)
        if (indices[i] != MPI_UNDEFINED)
            indices[i]++;
}

/* Buffers, statuses and lists that a variable of the library may stand for. */

static inline void *ferrum_buffer(const void *buffer)
{
    if (buffer == ferrum_bottom_)
        return MPI_BOTTOM;
    if (buffer == ferrum_in_place_)
        return MPI_IN_PLACE;
    if (buffer == ferrum_buffer_automatic_)
        return MPI_BUFFER_AUTOMATIC;
    return (void *)buffer;
}

static inline MPI_Status *ferrum_status(const MPI_Fint *status)
{
    if (status == ferrum_status_ignore_ || status == ferrum_statuses_ignore_)
        return MPI_STATUS_IGNORE;
    return (MPI_Status *)status;
}

static inline MPI_Fint *ferrum_weights(const MPI_Fint *weights)
{
    if (weights == ferrum_unweighted_)
        return MPI_UNWEIGHTED;
    if (weights == ferrum_weights_empty_)
        return MPI_WEIGHTS_EMPTY;
    return (MPI_Fint *)weights;
}

static inline MPI_Fint *ferrum_error_codes(MPI_Fint *codes)
{
    return codes == ferrum_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

/* Handles. An integer that names no object becomes a word that is no handle either, so that the call reports it; the
 * null handle would be valid in places. A result is stored if the call has set it: the word differs then. The ABI
 * reserves the words below 4096 for constants, whose integers are the same in Fortran. */
#define FERRUM_PREDEFINED 4096
#define FERRUM_HANDLES(type, name, c_name, null)                                                                     \
    static inline type ferrum_##name(MPI_Fint word)                                                                  \
    {                                                                                                                \
        if (word > 0 && word < FERRUM_PREDEFINED)                                                                    \
            return (type)(intptr_t)word;                                                                             \
        type handle = PMPI_##c_name##_fromint(word);                                                                 \
        return handle == (null) && word != (MPI_Fint)(intptr_t)(null) ? (type)(intptr_t)word : handle;               \
    }                                                                                                                \
    static inline void ferrum_set_##name(MPI_Fint *word, type handle)                                                \
    {                                                                                                                \
        if (handle && (intptr_t)handle != *word)                                                                     \
            *word = PMPI_##c_name##_toint(handle);                                                                   \
    }                                                                                                                \
    static inline type *ferrum_##name##_list(const MPI_Fint *words, MPI_Count count, type *few)                      \
    {                                                                                                                \
        type *all = count > FERRUM_FEW ? malloc((size_t)count * sizeof *all) : few;                                  \
        for (MPI_Count i = 0; all && i < count; i++)                                                                 \
            all[i] = words ? ferrum_##name(words[i]) : 0;                                                            \
        return all;                                                                                                  \
    }                                                                                                                \
    static inline void ferrum_set_##name##_list(MPI_Fint *words, MPI_Count count, type *all)                         \
    {                                                                                                                \
        for (MPI_Count i = 0; i < count; i++)                                                                        \
            ferrum_set_##name(&words[i], all[i]);                                                                    \
    }                                                                                                                \
    struct ferrum_##name##_ends_here

FERRUM_HANDLES(MPI_Comm, comm, Comm, MPI_COMM_NULL);
FERRUM_HANDLES(MPI_Datatype, type, Type, MPI_DATATYPE_NULL);
FERRUM_HANDLES(MPI_Errhandler, errhandler, Errhandler, MPI_ERRHANDLER_NULL);
FERRUM_HANDLES(MPI_File, file, File, MPI_FILE_NULL);
FERRUM_HANDLES(MPI_Group, group, Group, MPI_GROUP_NULL);
FERRUM_HANDLES(MPI_Info, info, Info, MPI_INFO_NULL);
FERRUM_HANDLES(MPI_Message, message, Message, MPI_MESSAGE_NULL);
FERRUM_HANDLES(MPI_Op, op, Op, MPI_OP_NULL);
FERRUM_HANDLES(MPI_Request, request, Request, MPI_REQUEST_NULL);
FERRUM_HANDLES(MPI_Session, session, Session, MPI_SESSION_NULL);
FERRUM_HANDLES(MPI_Win, win, Win, MPI_WIN_NULL);

/* Frees what a list or text did not fit into its few elements. */
static inline void ferrum_release(void *all, void *few)
{
    if (all != few)
        free(all);
}

/* Texts (fortran/texts.c). */

/* A text of the program with a NUL in place of its trailing blanks, and without leading ones on request; NULL if there
 * is no memory. It is `few` if it fits into FERRUM_FEW_CHARACTERS. */
FERRUM_LOCAL char *ferrum_text(const char *text, size_t length, int without_leading, char *few);

/* No text that the library stores has more characters, so that more room makes no difference. */
#define FERRUM_MOST_CHARACTERS 65535

/* The length of a variable for a text as a length in C, with room for the NUL. */
static inline int ferrum_with_nul(MPI_Fint length)
{
    if (length <= 0)
        return length;
    return (length < FERRUM_MOST_CHARACTERS ? length : FERRUM_MOST_CHARACTERS) + 1;
}

/* Room for a text of some characters and its NUL. */
FERRUM_LOCAL char *ferrum_room(MPI_Fint characters, char *few);

/* Copies a text into a variable of the program, cut or padded with blanks. */
FERRUM_LOCAL void ferrum_pad(char *variable, size_t length, const char *text);

/* The length of a text that a call reports with its NUL in C; 0, which C reports where there is none, stays. */
static inline void ferrum_length(MPI_Fint *length, int with_nul)
{
    *length = with_nul > 0 ? with_nul - 1 : with_nul;
}

#include "lists.h"

/* Procedures that functions of C call (fortran/callbacks.c). */

/* The procedures of a generalized request or of a data representation, in the order of the arguments. */
struct ferrum_procedures {
    ferrum_procedure *procedures[3];
    MPI_Aint extra_state;
};

/* The place of the procedure ends the name: a data representation reads by the first and writes by the second. */
FERRUM_LOCAL MPI_Grequest_query_function ferrum_fortran_query_0;
FERRUM_LOCAL MPI_Grequest_free_function ferrum_fortran_free_1;
FERRUM_LOCAL MPI_Grequest_cancel_function ferrum_fortran_cancel_2;
FERRUM_LOCAL MPI_Datarep_conversion_function ferrum_fortran_conversion_0, ferrum_fortran_conversion_1;
FERRUM_LOCAL MPI_Datarep_conversion_function_c ferrum_fortran_conversion_c_0, ferrum_fortran_conversion_c_1;
FERRUM_LOCAL MPI_Datarep_extent_function ferrum_fortran_extent_2;

#endif
