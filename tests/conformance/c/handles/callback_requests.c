/* The functions of generalized requests get the state of their own request, and set the status of its completion; those
 * of data representations get the datatype that the program passed, the buffer's parts, and their own state. */
#include "file/file.h"

enum { REQUESTS = 20 };

static int states[REQUESTS], queries[REQUESTS], frees[REQUESTS], cancels[REQUESTS];

static int number_of(void *state)
{
    long number = (int *)state - states;
    check(number >= 0 && number < REQUESTS);
    return number >= 0 && number < REQUESTS ? (int)number : 0;
}

static int query(void *state, MPI_Status *status)
{
    queries[number_of(state)]++;
    status->MPI_SOURCE = number_of(state);
    status->MPI_TAG = 100 + number_of(state);
    ok(MPI_Status_set_cancelled(status, 0));
    return MPI_Status_set_elements(status, MPI_INT, number_of(state));
}

static int release(void *state)
{
    frees[number_of(state)]++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    cancels[number_of(state)] += complete ? 100 : 1;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    for (int i = 0; i < REQUESTS; i++)
        ok(MPI_Grequest_start(query, release, cancel, &states[i], &requests[i]));
    for (int i = 0; i < REQUESTS; i += 2)
        ok(MPI_Cancel(&requests[i]));
    for (int i = REQUESTS - 1; i >= 0; i--)
        ok(MPI_Grequest_complete(requests[i]));
    for (int i = 1; i < REQUESTS; i += 2)
        ok(MPI_Cancel(&requests[i]));
    ok(MPI_Waitall(REQUESTS, requests, statuses));
    for (int i = 0; i < REQUESTS; i++) {
        int count = -1;
        ok(MPI_Get_count(&statuses[i], MPI_INT, &count));
        check(queries[i] == 1 && frees[i] == 1 && cancels[i] == (i % 2 ? 100 : 1));
        check(statuses[i].MPI_SOURCE == i && statuses[i].MPI_TAG == 100 + i && count == i);
        check(requests[i] == MPI_REQUEST_NULL);
    }
}

static MPI_Datatype converted, sized;
static char *buffer;
static size_t buffer_bytes;
static int conversions, extents, representations[2];

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    MPI_Aint lower;
    check(type == sized && extra == &representations[0]);
    extents++;
    return MPI_Type_get_extent(type, &lower, extent);
}

static int convert(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    (void)file;
    check(type == converted && extra == &representations[0]);
    check((char *)user >= buffer && (char *)user < buffer + buffer_bytes && count > 0 && position >= 0);
    conversions++;
    return MPI_SUCCESS;
}

static int convert_c(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    return convert(user, type, (int)count, file, position, extra);
}

/* Writes and reads elements of a type through a view of a representation. */
static void access_as(MPI_File file, const char *name, MPI_Datatype type, MPI_Datatype basic, int count)
{
    MPI_Aint lower, extent;
    converted = type;
    sized = basic;
    ok(MPI_Type_get_extent(type, &lower, &extent));
    buffer_bytes = (size_t)extent * (size_t)count;
    buffer = calloc((size_t)count, (size_t)extent);
    extents = conversions = 0;
    ok(MPI_File_set_view(file, 0, basic, basic, name, MPI_INFO_NULL));
    ok(MPI_File_write_at(file, 0, buffer, count, type, MPI_STATUS_IGNORE));
    check(conversions > 0 && extents > 0);
    conversions = 0;
    ok(MPI_File_read_at(file, 0, buffer, count, type, MPI_STATUS_IGNORE));
    check(conversions > 0);
    free(buffer);
}

static void representations_of_files(void)
{
    char name[NAME];
    MPI_File file;
    MPI_Datatype sparse;
    name_of(name, "callback");
    name[strlen(name) - 1] = (char)('a' + rank);
    ok(MPI_Register_datarep("small", convert, convert, extent_of, &representations[0]));
    ok(MPI_Register_datarep_c("large", convert_c, convert_c, extent_of, &representations[0]));
    ok(MPI_Type_vector(10, 1, 2, MPI_INT, &sparse));
    ok(MPI_Type_commit(&sparse));
    ok(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int i = 0; i < 2; i++) {
        const char *representation = i ? "large" : "small";
        access_as(file, representation, MPI_INT, MPI_INT, 1000);
        access_as(file, representation, MPI_DOUBLE, MPI_DOUBLE, 7);
        access_as(file, representation, sparse, MPI_INT, 50);
    }
    ok(MPI_File_close(&file));
    ok(MPI_Type_free(&sparse));
    unlink(name);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    generalized();
    representations_of_files();
    return finish();
}
