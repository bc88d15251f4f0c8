/* MPI_Get_hw_resource_info: types of hardware, each "true" or "false"; the same at each call; MPI_Comm_split_type
 * takes each type, and a process that is restricted to one instance of it gets a communicator. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Info first, second;
    int keys = 0, again = 0;
    begin(&argc, &argv);
    ok(MPI_Get_hw_resource_info(&first));
    ok(MPI_Get_hw_resource_info(&second));
    ok(MPI_Info_get_nkeys(first, &keys));
    ok(MPI_Info_get_nkeys(second, &again));
    check(keys > 0);
    check_equal(keys, again);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY], value[8] = "", other[8] = "";
        int length = sizeof value, flag = 0, members = 0;
        MPI_Info wish;
        MPI_Comm part;
        ok(MPI_Info_get_nthkey(first, i, key));
        ok(MPI_Info_get_string(first, key, &length, value, &flag));
        check(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
        length = sizeof other;
        ok(MPI_Info_get_string(second, key, &length, other, &flag));
        check(flag && strcmp(value, other) == 0);
        ok(MPI_Info_create(&wish));
        ok(MPI_Info_set(wish, "mpi_hw_resource_type", key));
        ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, wish, &part));
        check((part != MPI_COMM_NULL) == (strcmp(value, "true") == 0));
        if (part != MPI_COMM_NULL) {
            ok(MPI_Comm_size(part, &members));
            check(members >= 1 && members <= size);
            ok(MPI_Comm_free(&part));
        }
        ok(MPI_Info_free(&wish));
    }
    ok(MPI_Info_free(&first));
    ok(MPI_Info_free(&second));
    return finish();
}
