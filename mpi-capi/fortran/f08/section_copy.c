/* Copies of array sections with gaps, for calls that have finished with a buffer when they return. */
#include "ferrum_f08.h"
#include <string.h>

/* The number of elements. */
static size_t elements(const CFI_cdesc_t *given)
{
    size_t all = 1;
    for (int i = 0; i < given->rank; i++)
        all *= (size_t)given->dim[i].extent;
    return all;
}

/* Moves all elements between the section and contiguous memory, in array element order. */
static void move(const CFI_cdesc_t *given, char *contiguous, int to_section)
{
    CFI_index_t index[CFI_MAX_RANK] = {0};
    size_t length = given->elem_len;
    char *element = given->base_addr;
    for (size_t left = elements(given); left > 0; left--) {
        if (to_section)
            memcpy(element, contiguous, length);
        else
            memcpy(contiguous, element, length);
        contiguous += length;
        for (int i = 0; i < given->rank; i++) {
            element += given->dim[i].sm;
            if (++index[i] < given->dim[i].extent)
                break;
            element -= given->dim[i].sm * given->dim[i].extent;
            index[i] = 0;
        }
    }
}

void ferrum_section_copy(struct ferrum_section *section, const CFI_cdesc_t *given)
{
    /* Memory that a call writes begins as the section is, because the call may write a part of it. */
    section->address = malloc(elements(given) * given->elem_len);
    if (!section->address) {
        section->error = MPI_ERR_NO_MEM;
        return;
    }
    section->copied = given;
    move(given, section->address, 0);
}

void ferrum_section_release(struct ferrum_section *section)
{
    if (section->copied) {
        if (section->writes)
            move(section->copied, section->address, 1);
        free(section->address);
    }
    if (section->is_made)
        PMPI_Type_free(&section->datatype);
}
