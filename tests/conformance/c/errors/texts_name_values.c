/* The text of an error names predefined handles and keys, the element of a list that is wrong, and counts in the
 * singular where there is one. */
#include "check.h"

static void shows(int code, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (!strstr(text, part) && wrong++ < 10)
        fprintf(stderr, "\"%s\" does not show \"%s\"\n", text, part);
}

int main(int argc, char **argv)
{
    MPI_Request request = MPI_REQUEST_NULL, requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Datatype type = MPI_INT, made, types[2] = {MPI_INT, MPI_DATATYPE_NULL};
    MPI_Aint places[2] = {0, 8};
    MPI_Op op = MPI_SUM;
    MPI_Group group, part;
    MPI_Comm comm;
    int key = MPI_KEYVAL_INVALID, ranks[3] = {0, 9, 1}, twice[2] = {0, 0}, lengths[2] = {1, -2}, dims[2] = {1, -1};
    int ranges[2][3] = {{0, 0, 1}, {0, 0, 0}};
    begin(&argc, &argv);
    return_errors();
    MPI_Comm_group(MPI_COMM_SELF, &group);
    shows(MPI_Start(&request), "request is MPI_REQUEST_NULL, but a request is needed");
    shows(MPI_Startall(2, requests), "argument array_of_requests is MPI_REQUEST_NULL (element 0)");
    shows(MPI_Pready(0, request), "request is MPI_REQUEST_NULL");
    shows(MPI_Grequest_complete(request), "request is MPI_REQUEST_NULL");
    shows(MPI_Type_free(&type), "datatype is MPI_INT, but a predefined datatype");
    shows(MPI_Op_free(&op), "op is MPI_SUM, but a predefined operation");
    shows(MPI_Comm_free_keyval(&key), "keyval is MPI_KEYVAL_INVALID");
    shows(MPI_Comm_set_attr(MPI_COMM_SELF, MPI_TAG_UB, NULL), "keyval is MPI_TAG_UB");
    shows(MPI_Group_incl(group, 3, ranks, &part), "ranks is 9 (element 1), but the group has 1 process, rank 0");
    shows(MPI_Group_excl(group, 2, twice, &part), "ranks is 0 (element 1), but each rank");
    shows(MPI_Group_range_incl(group, 2, ranges, &part), "ranges is (0, 0, 0) (element 1)");
    shows(MPI_Group_translate_ranks(group, 3, ranks, group, twice), "ranks1 is 9 (element 1)");
    shows(MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &made), "blocklengths is -2 (element 1)");
    lengths[1] = 1;
    shows(MPI_Type_create_struct(2, lengths, places, types, &made), "types is MPI_DATATYPE_NULL (element 1)");
    shows(MPI_Cart_create(MPI_COMM_SELF, 2, dims, twice, 0, &comm), "dims is -1 (element 1)");
    dims[1] = 2;
    shows(MPI_Cart_create(MPI_COMM_SELF, 2, dims, twice, 0, &comm), "has 1 process, and the grid needs 2");
    shows(MPI_Buffer_attach(NULL, 100), "buffer is NULL, but a buffer of 100 bytes has an address");
    MPI_Group_free(&group);
    return finish();
}
