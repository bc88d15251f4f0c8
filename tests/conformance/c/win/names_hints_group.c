/* A window has a name, hints and a group. */
#include "check.h"

static void expect(MPI_Win win, const char *name)
{
    char got[MPI_MAX_OBJECT_NAME];
    int length = -1;
    memset(got, 'x', sizeof got);
    ok(MPI_Win_get_name(win, got, &length));
    check_equal(length, strlen(name));
    check(strcmp(got, name) == 0);
}

static void hint(MPI_Win win, const char *key, const char *value)
{
    MPI_Info used;
    char got[64] = "";
    int flag = 0, room = sizeof got;
    ok(MPI_Win_get_info(win, &used));
    ok(MPI_Info_get_string(used, key, &room, got, &flag));
    check(flag && strcmp(got, value) == 0);
    ok(MPI_Info_free(&used));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    char memory[8], longest[MPI_MAX_OBJECT_NAME];
    MPI_Win win;
    MPI_Info info;
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "no_locks", "true"));
    ok(MPI_Info_set(info, "colour", "red"));
    ok(MPI_Win_create(memory, 8, 1, info, MPI_COMM_WORLD, &win));
    expect(win, "");
    ok(MPI_Win_set_name(win, "the window"));
    expect(win, "the window");
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ok(MPI_Win_set_name(win, longest));
    expect(win, longest);

    hint(win, "no_locks", "true");
    hint(win, "same_size", "false");
    hint(win, "accumulate_ordering", "rar,raw,war,waw");
    ok(MPI_Info_set(info, "same_size", "true"));
    ok(MPI_Info_set(info, "accumulate_ordering", "none"));
    ok(MPI_Win_set_info(win, info));
    hint(win, "same_size", "true");
    hint(win, "accumulate_ordering", "none");
    ok(MPI_Info_free(&info));

    MPI_Comm turned;
    MPI_Win other;
    MPI_Group of_win, of_comm;
    int result = -1;
    ok(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned));
    ok(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, turned, &other));
    ok(MPI_Win_get_group(other, &of_win));
    ok(MPI_Comm_group(turned, &of_comm));
    ok(MPI_Group_compare(of_win, of_comm, &result));
    check_equal(result, MPI_IDENT);
    ok(MPI_Group_free(&of_win));
    /* A window can be used after its communicator is freed. */
    ok(MPI_Comm_free(&turned));
    int value = 0, out = 100 + rank;
    ok(MPI_Win_fence(0, other));
    memset(memory, 0, sizeof memory);
    ok(MPI_Win_fence(0, other));
    int own = size - 1 - rank;
    ok(MPI_Put(&out, 1, MPI_INT, (own + 1) % size, 0, 1, MPI_INT, other));
    ok(MPI_Win_fence(0, other));
    memcpy(&value, memory, sizeof value);
    check_equal(value, 100 + (rank + 1) % size);
    ok(MPI_Win_free(&other));
    ok(MPI_Group_free(&of_comm));
    ok(MPI_Win_free(&win));
    return finish();
}
