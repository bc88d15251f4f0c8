/* Choice buffers of module mpi_f08: how an array section with gaps reaches C.
 *
 * A call reads and writes as if the elements of the section were copied, in array element order, to contiguous memory
 * (MPI-5.0, 19.1.12). Datatypes and counts describe that memory. A call gets a datatype with the same data in the
 * section, or a copy of the section, or the section is stated to the library. */
#ifndef FERRUM_F08_H
#define FERRUM_F08_H

#include "ferrum_fortran.h"
#include <ISO_Fortran_binding.h>

/* What a call gets for a choice buffer. */
struct ferrum_section {
    void *address;
    MPI_Count count;
    MPI_Datatype datatype;
    /* Why `address` is not the section's: it is a copy of these elements, */
    const CFI_cdesc_t *copied;
    /* into which the call writes: with a second copy of how they were before. */
    int writes;
    /* The datatype was made for this call. */
    int is_made;
    /* The buffer is stated to the library. */
    int is_stated;
    /* The buffer cannot be passed. */
    int is_refused;
};

/* Functions of the library beyond the standard (mpi-capi/src/fortran_section.rs). Those that give an `int` return one
 * of these. */
enum {
    /* The call gets the arguments of the program. */
    FERRUM_SECTION_AS_IT_IS = 0,
    /* A datatype was made. */
    FERRUM_SECTION_MADE = 1,
    /* There is an error, which the next call of ferrum_section_raise raises. */
    FERRUM_SECTION_REFUSED = 2,
};

/* Makes a datatype of which one item has the data of `count` items, in a section. */
int ferrum_section_datatype(MPI_Count count, MPI_Datatype datatype, size_t element, int rank,
    const CFI_dim_t *dimensions, MPI_Datatype *made);

/* Ends that datatype. */
void ferrum_section_free(MPI_Datatype made);

/* Whether a copy of a section has room for `blocks` times `count` items. */
int ferrum_section_room(
    MPI_Count count, int blocks, MPI_Datatype datatype, size_t element, int rank, const CFI_dim_t *dimensions);

/* Refuses a buffer, with an error of this class: MPI_ERR_NO_MEM or MPI_ERR_BUFFER. */
void ferrum_section_refuse(int class);

/* Objects with error handlers, besides FERRUM_COMM. */
enum { FERRUM_OF_NONE = 0, FERRUM_OF_COMM = 1, FERRUM_OF_WIN = 2, FERRUM_OF_FILE = 3 };

/* Calls the error handler of the object of a call that cannot be made; the error code. */
int ferrum_section_raise(const char *call, int holder, uintptr_t object);

/* States that a buffer of the next call is a section; without an address, that the call is over. */
void ferrum_section_state(const char *parameter, const void *address, size_t element, int rank,
    const CFI_dim_t *dimensions);

/* Functions of fortran/f08. */

/* Of a section with gaps, for a call that has finished with the buffer when it returns: a copy of the elements, where
 * there is room for `blocks` times as many items as the call describes. */
FERRUM_LOCAL void ferrum_section_copy(struct ferrum_section *section, const CFI_cdesc_t *given, int writes,
    MPI_Count count, MPI_Datatype datatype, int blocks);

/* Frees what was made for the call, and stores in the section what the call has written. */
FERRUM_LOCAL void ferrum_section_release(struct ferrum_section *section);

/* Whether the elements follow each other in memory. Arrays of assumed size do. */
static inline int ferrum_is_contiguous(const CFI_cdesc_t *given)
{
    CFI_index_t next = (CFI_index_t)given->elem_len;
    int contiguous = 1;
    for (int i = 0; i < given->rank; i++) {
        CFI_index_t extent = given->dim[i].extent;
        if (extent == 0 || (extent < 0 && i + 1 == given->rank))
            return extent == 0 || contiguous;
        contiguous &= extent == 1 || given->dim[i].sm == next;
        next *= extent;
    }
    return contiguous;
}

/* A buffer of which the call takes the address alone. */
static inline struct ferrum_section ferrum_addressed(const CFI_cdesc_t *given)
{
    struct ferrum_section section = {.address = ferrum_buffer(given->base_addr)};
    return section;
}

/* A buffer that must be contiguous. */
static inline struct ferrum_section ferrum_contiguous(const CFI_cdesc_t *given)
{
    struct ferrum_section section = ferrum_addressed(given);
    if (!ferrum_is_contiguous(given)) {
        ferrum_section_refuse(MPI_ERR_BUFFER);
        section.is_refused = 1;
    }
    return section;
}

/* A buffer that a count and a datatype describe, which the call gets for a section with gaps as well. */
static inline struct ferrum_section ferrum_described(const CFI_cdesc_t *given, MPI_Count count, MPI_Datatype datatype)
{
    struct ferrum_section section = ferrum_addressed(given);
    section.count = count;
    section.datatype = datatype;
    if (!ferrum_is_contiguous(given)) {
        int found = ferrum_section_datatype(
            count, datatype, given->elem_len, given->rank, given->dim, &section.datatype);
        section.is_refused = found == FERRUM_SECTION_REFUSED;
        section.is_made = found == FERRUM_SECTION_MADE;
        if (section.is_made)
            section.count = 1;
    }
    return section;
}

/* A buffer of which the implementation reads whether it is a section. */
static inline struct ferrum_section ferrum_stated(const CFI_cdesc_t *given, const char *parameter)
{
    struct ferrum_section section = ferrum_addressed(given);
    section.is_stated = !ferrum_is_contiguous(given);
    if (section.is_stated)
        ferrum_section_state(parameter, section.address, given->elem_len, given->rank, given->dim);
    return section;
}

/* Ends the use of a buffer in a call. */
static inline void ferrum_section_end(struct ferrum_section *section)
{
    if (section->is_made || section->copied || section->is_stated)
        ferrum_section_release(section);
}

#endif
