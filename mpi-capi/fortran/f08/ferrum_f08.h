/* Choice buffers of module mpi_f08: array sections with gaps reach C as a datatype that describes them or as a copy.
 *
 * A call reads and writes as if the elements of the section were copied, in array element order, to contiguous memory
 * (MPI-5.0, 19.1.12). Datatypes and counts describe that memory. */
#ifndef FERRUM_F08_H
#define FERRUM_F08_H

#include "ferrum_fortran.h"
#include <ISO_Fortran_binding.h>

/* What a call gets for a choice buffer. */
struct ferrum_section {
    void *address;
    MPI_Count count;
    MPI_Datatype datatype;
    /* The datatype was made for this call. */
    int is_made;
    /* `address` is a copy of these elements, */
    const CFI_cdesc_t *copied;
    /* into which the call writes. */
    int writes;
    /* Why the buffer cannot be passed; MPI_SUCCESS if it can. */
    int error;
};

/* Why a section cannot be passed: codes of the library with texts, which a call of the error handler gets. */
enum {
    /* The call needs contiguous memory. */
    FERRUM_SECTION_GAPS = -1,
    /* No datatype describes these items in this section. */
    FERRUM_SECTION_DATATYPE = -2,
    /* The section has fewer elements than the count and the datatype describe. */
    FERRUM_SECTION_SHORT = -3,
};

/* Of a section with gaps, described by a count and a datatype. */
FERRUM_LOCAL void ferrum_section_describe(struct ferrum_section *section, const CFI_cdesc_t *given, int may_copy);

/* Of a section with gaps: a copy of its elements. */
FERRUM_LOCAL void ferrum_section_copy(struct ferrum_section *section, const CFI_cdesc_t *given);

/* Frees what was made for the call, and copies what it has written back to the section. */
FERRUM_LOCAL void ferrum_section_release(struct ferrum_section *section);

/* Call the error handler of an object for an error of a section; the error code. */
FERRUM_LOCAL int ferrum_raise_comm(MPI_Comm comm, int error);
FERRUM_LOCAL int ferrum_raise_win(MPI_Win win, int error);
FERRUM_LOCAL int ferrum_raise_file(MPI_File file, int error);

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
    if (!ferrum_is_contiguous(given))
        section.error = FERRUM_SECTION_GAPS;
    return section;
}

/* A buffer that the call has finished with when it returns. */
static inline struct ferrum_section ferrum_copied(const CFI_cdesc_t *given, int writes)
{
    struct ferrum_section section = ferrum_addressed(given);
    section.writes = writes;
    if (!ferrum_is_contiguous(given))
        ferrum_section_copy(&section, given);
    return section;
}

/* A buffer that a count and a datatype describe. If no datatype describes it in the section, it is copied where the
 * call has finished with it when it returns. */
static inline struct ferrum_section ferrum_described(
    const CFI_cdesc_t *given, MPI_Count count, MPI_Datatype datatype, int writes, int may_copy)
{
    struct ferrum_section section = ferrum_addressed(given);
    section.count = count;
    section.datatype = datatype;
    section.writes = writes;
    if (!ferrum_is_contiguous(given))
        ferrum_section_describe(&section, given, may_copy);
    return section;
}

/* Ends the use of a buffer in a call. */
static inline void ferrum_section_end(struct ferrum_section *section)
{
    if (section->is_made || section->copied)
        ferrum_section_release(section);
}

#endif
