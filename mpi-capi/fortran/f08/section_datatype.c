/* Datatypes that describe array sections with gaps. */
#include "ferrum_f08.h"

/* Items of a datatype. */
struct items {
    MPI_Datatype datatype;
    MPI_Count count;
    MPI_Count extent;
};

/* Whether the data of an item is within its extent, so that items can stand at any distance of at least the extent. */
static int is_within_extent(MPI_Datatype datatype, MPI_Count *extent)
{
    MPI_Count lower, true_lower, true_extent;
    return PMPI_Type_get_extent_c(datatype, &lower, extent) == MPI_SUCCESS &&
           PMPI_Type_get_true_extent_c(datatype, &true_lower, &true_extent) == MPI_SUCCESS && *extent > 0 &&
           true_lower >= 0 && true_lower + true_extent <= *extent;
}

/* Replaces items of a datatype that is a sequence of others by those; whether it was one. A datatype that was read
 * belongs to the caller. */
static int open_sequence(struct items *items, int *is_own)
{
    MPI_Count integers, addresses, counts, types;
    int combiner;
    if (PMPI_Type_get_envelope_c(items->datatype, &integers, &addresses, &counts, &types, &combiner) != MPI_SUCCESS ||
        (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP))
        return 0;
    int integer = 1;
    MPI_Aint address;
    MPI_Count count = 1;
    MPI_Datatype inner;
    if (PMPI_Type_get_contents_c(
            items->datatype, integers, addresses, counts, types, &integer, &address, &count, &inner) != MPI_SUCCESS)
        return 0;
    MPI_Count repeated = combiner == MPI_COMBINER_DUP ? 1 : integers ? integer : count;
    int extends = __builtin_mul_overflow(items->count, repeated, &items->count);
    if (*is_own)
        PMPI_Type_free(&items->datatype);
    items->datatype = inner;
    PMPI_Type_get_envelope_c(inner, &integers, &addresses, &counts, &types, &combiner);
    *is_own = combiner != MPI_COMBINER_NAMED;
    return !extends;
}

/* A part of the section: `count` neighbours of a dimension, at a distance from its beginning. */
struct part {
    MPI_Datatype datatype;
    MPI_Count displacement;
};

/* Frees a datatype unless it is the program's. */
static void drop(MPI_Datatype *datatype, MPI_Datatype but)
{
    if (*datatype != but && *datatype != MPI_DATATYPE_NULL)
        PMPI_Type_free(datatype);
}

/* The datatype of the first `number` elements, each of which holds `each` items, and of `rest` items in the next. */
static int make(const CFI_cdesc_t *given, MPI_Datatype item, MPI_Count each, MPI_Count number, MPI_Count rest,
    MPI_Datatype *made)
{
    /* whole[i]: an array of the first i dimensions with all its elements. */
    MPI_Datatype whole[CFI_MAX_RANK + 1];
    MPI_Count elements[CFI_MAX_RANK + 1] = {1};
    struct part parts[CFI_MAX_RANK + 2];
    int rank = given->rank, used = 0, error = MPI_SUCCESS;
    for (int i = 0; i <= rank; i++)
        whole[i] = MPI_DATATYPE_NULL;
    whole[0] = item;
    if (each > 1)
        error = PMPI_Type_contiguous_c(each, item, &whole[0]);
    for (int i = 0; i < rank && error == MPI_SUCCESS; i++) {
        elements[i + 1] = elements[i] * given->dim[i].extent;
        /* The last dimension is never needed whole: its parts are below. */
        if (i + 1 < rank)
            error = PMPI_Type_create_hvector_c(given->dim[i].extent, 1, given->dim[i].sm, whole[i], &whole[i + 1]);
    }
    MPI_Count displacement = 0;
    for (int i = rank - 1; i >= 0 && error == MPI_SUCCESS; i--) {
        MPI_Count neighbours = number / elements[i];
        if (neighbours > 0) {
            error = PMPI_Type_create_hvector_c(neighbours, 1, given->dim[i].sm, whole[i], &parts[used].datatype);
            parts[used].displacement = displacement;
            used += error == MPI_SUCCESS;
        }
        displacement += neighbours * given->dim[i].sm;
        number -= neighbours * elements[i];
    }
    if (rest > 0 && error == MPI_SUCCESS) {
        error = PMPI_Type_contiguous_c(rest, item, &parts[used].datatype);
        parts[used].displacement = displacement;
        used += error == MPI_SUCCESS;
    }
    if (error == MPI_SUCCESS) {
        MPI_Count lengths[CFI_MAX_RANK + 2], displacements[CFI_MAX_RANK + 2];
        MPI_Datatype datatypes[CFI_MAX_RANK + 2];
        for (int i = 0; i < used; i++) {
            lengths[i] = 1;
            displacements[i] = parts[i].displacement;
            datatypes[i] = parts[i].datatype;
        }
        error = PMPI_Type_create_struct_c(used, lengths, displacements, datatypes, made);
    }
    for (int i = 0; i < used; i++)
        drop(&parts[i].datatype, MPI_DATATYPE_NULL);
    for (int i = 0; i <= rank; i++)
        drop(&whole[i], item);
    return error == MPI_SUCCESS ? PMPI_Type_commit(made) : error;
}

/* Describes the items in the elements; the reason if no datatype does. */
static int describe(struct ferrum_section *section, const CFI_cdesc_t *given, struct items *items, int *is_own)
{
    MPI_Count length = (MPI_Count)given->elem_len, elements = 1;
    for (int i = 0; i < given->rank; i++)
        elements *= given->dim[i].extent;
    for (;;) {
        if (!is_within_extent(items->datatype, &items->extent))
            return FERRUM_SECTION_DATATYPE;
        if (items->extent <= length && length % items->extent == 0)
            break;
        /* Only datatypes of the program consist of others. */
        if (!open_sequence(items, is_own))
            return FERRUM_SECTION_DATATYPE;
    }
    MPI_Count each = length / items->extent;
    MPI_Count number = items->count / each, rest = items->count % each;
    if (number > elements || (number == elements && rest > 0))
        return FERRUM_SECTION_SHORT;
    MPI_Datatype made;
    int error = make(given, items->datatype, each, number, rest, &made);
    if (error != MPI_SUCCESS)
        return error;
    section->datatype = made;
    section->count = 1;
    section->is_made = 1;
    return MPI_SUCCESS;
}

void ferrum_section_describe(struct ferrum_section *section, const CFI_cdesc_t *given, int may_copy)
{
    /* The call itself reports a wrong count or a null handle, and no items need no description. */
    if (section->count <= 0 || section->datatype == MPI_DATATYPE_NULL)
        return;
    struct items items = {.datatype = section->datatype, .count = section->count};
    int is_own = 0;
    int reason = describe(section, given, &items, &is_own);
    if (is_own)
        PMPI_Type_free(&items.datatype);
    if (reason == FERRUM_SECTION_DATATYPE && may_copy)
        ferrum_section_copy(section, given);
    else
        section->error = reason;
}
