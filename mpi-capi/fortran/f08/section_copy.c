/* Copies of array sections with gaps, for calls that have finished with a buffer when they return.
 *
 * A call stores only what it defines: of a copy that it writes there is a second one, and bytes that have become others
 * are stored in the section. All other bytes of the section stay untouched. */
#include "ferrum_f08.h"
#include <string.h>

/* The library reads the dimensions of a descriptor as three words each. */
_Static_assert(sizeof(CFI_dim_t) == 3 * sizeof(ptrdiff_t) && offsetof(CFI_dim_t, extent) == sizeof(ptrdiff_t) &&
                   offsetof(CFI_dim_t, sm) == 2 * sizeof(ptrdiff_t),
    "a dimension has a lower bound, an extent and a stride");

/* The number of elements. */
static size_t elements(const CFI_cdesc_t *given)
{
    size_t all = 1;
    for (int i = 0; i < given->rank; i++)
        all *= (size_t)given->dim[i].extent;
    return all;
}

/* Stores the bytes that differ from those before. */
static void store_changes(char *element, const char *now, const char *before, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (now[i] != before[i])
            element[i] = now[i];
}

/* Copies all elements of the section, in array element order; or stores in it what differs from them in `changed`. */
static void move(const CFI_cdesc_t *given, char *contiguous, const char *changed)
{
    CFI_index_t index[CFI_MAX_RANK] = {0};
    size_t length = given->elem_len;
    char *element = given->base_addr;
    for (size_t left = elements(given); left > 0; left--) {
        if (!changed)
            memcpy(contiguous, element, length);
        else {
            if (memcmp(changed, contiguous, length) != 0)
                store_changes(element, changed, contiguous, length);
            changed += length;
        }
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

void ferrum_section_copy(struct ferrum_section *section, const CFI_cdesc_t *given, int writes, MPI_Count count,
    MPI_Datatype datatype, int blocks)
{
    section->writes = writes;
    if (ferrum_section_room(count, blocks, datatype, given->elem_len, given->rank, given->dim) != 0) {
        section->is_refused = 1;
        return;
    }
    size_t bytes = elements(given) * given->elem_len;
    char *copy = malloc(writes ? 2 * bytes : bytes);
    if (!copy) {
        ferrum_section_refuse(MPI_ERR_NO_MEM);
        section->is_refused = 1;
        return;
    }
    section->address = copy;
    section->copied = given;
    move(given, copy, 0);
    if (writes)
        memcpy(copy + bytes, copy, bytes);
}

void ferrum_section_release(struct ferrum_section *section)
{
    if (section->is_made)
        ferrum_section_free(section->datatype);
    if (section->is_stated)
        ferrum_section_state(0, 0, 0, 0, 0);
    if (section->copied) {
        char *copy = section->address;
        size_t bytes = elements(section->copied) * section->copied->elem_len;
        if (section->writes)
            move(section->copied, copy + bytes, copy);
        free(copy);
    }
}
