/* Copy and delete functions of attributes get the handle and the keyval that the program has: of predefined and made
 * communicators, datatypes and windows, in every call that copies or deletes, and at MPI_Finalize. */
#include "check.h"

static MPI_Comm comm_expected;
static MPI_Datatype type_expected;
static MPI_Win win_expected;
static int keyval_expected, copies, deletes, state, at_end;

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    check(comm == comm_expected);
    check_equal(keyval, keyval_expected);
    check(extra == &state);
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    check(comm == comm_expected);
    check_equal(keyval, keyval_expected);
    check(extra == &state && value == (at_end ? (void *)&at_end : (void *)&state));
    deletes++;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    check(type == type_expected);
    check_equal(keyval, keyval_expected);
    check(extra == &state);
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    check(type == type_expected);
    check_equal(keyval, keyval_expected);
    check(extra == &state && value == &state);
    deletes++;
    return MPI_SUCCESS;
}

static int delete_win(MPI_Win win, int keyval, void *value, void *extra)
{
    check(win == win_expected);
    check_equal(keyval, keyval_expected);
    check(extra == &state && value == &state);
    deletes++;
    return MPI_SUCCESS;
}

/* Every way to copy the attribute of this communicator, and every way to delete it. */
static void communicator(MPI_Comm comm, int keyval)
{
    MPI_Comm copy[5], kept;
    MPI_Request requests[2];
    keyval_expected = keyval;
    comm_expected = comm;
    copies = deletes = 0;
    ok(MPI_Comm_set_attr(comm, keyval, &state));
    ok(MPI_Comm_dup(comm, &copy[0]));
    ok(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy[1]));
    ok(MPI_Comm_idup(comm, &copy[2], &requests[0]));
    ok(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &copy[3], &requests[1]));
    ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check_equal(copies, 4);
    /* A copy of a copy. */
    comm_expected = copy[0];
    ok(MPI_Comm_dup(copy[0], &copy[4]));
    check_equal(copies, 5);
    ok(MPI_Comm_set_attr(copy[0], keyval, &state));
    check_equal(deletes, 1);
    ok(MPI_Comm_delete_attr(copy[0], keyval));
    check_equal(deletes, 2);
    ok(MPI_Comm_free(&copy[0]));
    check_equal(deletes, 2);
    for (int i = 1; i < 5; i++) {
        kept = comm_expected = copy[i];
        ok(i == 2 ? MPI_Comm_disconnect(&copy[i]) : MPI_Comm_free(&copy[i]));
        check(copy[i] == MPI_COMM_NULL && kept != MPI_COMM_NULL);
        check_equal(deletes, 2 + i);
    }
    comm_expected = comm;
    ok(MPI_Comm_delete_attr(comm, keyval));
    check_equal(deletes, 7);
}

static void communicators(void)
{
    int keyval, old, dims[1] = {0};
    MPI_Comm half, between, merged, ring;
    ok(MPI_Comm_create_keyval(copy_comm, delete_comm, &keyval, &state));
    ok(MPI_Keyval_create(copy_comm, delete_comm, &old, &state));
    communicator(MPI_COMM_WORLD, keyval);
    communicator(MPI_COMM_WORLD, old);
    communicator(MPI_COMM_SELF, keyval);
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    communicator(half, keyval);
    if (size > 1) {
        ok(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, (rank + 1) % 2, 3, &between));
        communicator(between, keyval);
        ok(MPI_Intercomm_merge(between, rank % 2, &merged));
        communicator(merged, keyval);
        ok(MPI_Comm_free(&merged));
        ok(MPI_Comm_free(&between));
    }
    ok(MPI_Comm_free(&half));
    ok(MPI_Cart_create(MPI_COMM_WORLD, 1, (dims[0] = size, dims), dims, 0, &ring));
    communicator(ring, keyval);
    ok(MPI_Comm_free(&ring));
    ok(MPI_Comm_free_keyval(&keyval));
    ok(MPI_Keyval_free(&old));
}

static void datatype(MPI_Datatype type, int keyval)
{
    MPI_Datatype copy, second;
    keyval_expected = keyval;
    type_expected = type;
    copies = deletes = 0;
    ok(MPI_Type_set_attr(type, keyval, &state));
    ok(MPI_Type_dup(type, &copy));
    check_equal(copies, 1);
    type_expected = copy;
    ok(MPI_Type_dup(copy, &second));
    check_equal(copies, 2);
    ok(MPI_Type_set_attr(copy, keyval, &state));
    check_equal(deletes, 1);
    ok(MPI_Type_free(&copy));
    check_equal(deletes, 2);
    type_expected = second;
    ok(MPI_Type_free(&second));
    check_equal(deletes, 3);
    type_expected = type;
    ok(MPI_Type_delete_attr(type, keyval));
    check_equal(deletes, 4);
}

static void datatypes(void)
{
    int keyval;
    MPI_Datatype vector;
    ok(MPI_Type_create_keyval(copy_type, delete_type, &keyval, &state));
    datatype(MPI_INT, keyval);
    datatype(MPI_DOUBLE_INT, keyval);
    datatype(MPI_CXX_BOOL, keyval);
    datatype(MPI_BYTE, keyval);
    ok(MPI_Type_vector(2, 1, 3, MPI_INT, &vector));
    datatype(vector, keyval);
    ok(MPI_Type_commit(&vector));
    datatype(vector, keyval);
    ok(MPI_Type_set_attr(vector, keyval, &state));
    type_expected = vector;
    deletes = 0;
    ok(MPI_Type_free(&vector));
    check_equal(deletes, 1);
    ok(MPI_Type_free_keyval(&keyval));
}

static void windows(void)
{
    int keyval, memory[2];
    MPI_Win win[2];
    ok(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &keyval, &state));
    keyval_expected = keyval;
    for (int i = 0; i < 2; i++)
        ok(MPI_Win_create(&memory[i], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win[i]));
    for (int i = 0; i < 2; i++) {
        win_expected = win[i];
        deletes = 0;
        ok(MPI_Win_set_attr(win[i], keyval, &state));
        ok(MPI_Win_set_attr(win[i], keyval, &state));
        check_equal(deletes, 1);
        ok(MPI_Win_delete_attr(win[i], keyval));
        check_equal(deletes, 2);
        ok(MPI_Win_set_attr(win[i], keyval, &state));
        ok(MPI_Win_free(&win[i]));
        check_equal(deletes, 3);
    }
    ok(MPI_Win_free_keyval(&keyval));
}

int main(int argc, char **argv)
{
    int keyval;
    begin(&argc, &argv);
    return_errors();
    communicators();
    datatypes();
    windows();
    /* MPI_Finalize deletes the attributes of MPI_COMM_SELF. */
    ok(MPI_Comm_create_keyval(copy_comm, delete_comm, &keyval, &state));
    keyval_expected = keyval;
    comm_expected = MPI_COMM_SELF;
    ok(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &at_end));
    ok(MPI_Comm_free_keyval(&keyval));
    deletes = 0;
    at_end = 1;
    int total = 0;
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    check_equal(deletes, 1);
    return verdict(total + wrong);
}
