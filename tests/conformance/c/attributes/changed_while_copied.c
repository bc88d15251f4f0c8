/* A copy callback may delete and replace other attributes of the object: a value that is gone is not copied, and one
 * that is new is copied in its place. Deleted values are freed memory here. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST, GONE, REPLACED, LAST, KEYS };

static int keys[KEYS], copied[KEYS], deleted;
static const char *const texts[KEYS] = {"first", "gone", "replaced", "last"};

static char *text(const char *from)
{
    return strcpy(malloc(strlen(from) + 1), from);
}

static int place_of(int keyval)
{
    int place = 0;
    while (place < KEYS - 1 && keys[place] != keyval)
        place++;
    return place;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    deleted++;
    free(value);
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    deleted++;
    free(value);
    return MPI_SUCCESS;
}

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    int place = place_of(keyval);
    copied[place]++;
    if (place == FIRST) {
        ok(MPI_Comm_delete_attr(comm, keys[GONE]));
        ok(MPI_Comm_set_attr(comm, keys[REPLACED], text("new")));
    }
    *(char **)out = text(in);
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    int place = place_of(keyval);
    copied[place]++;
    if (place == FIRST) {
        ok(MPI_Type_delete_attr(type, keys[GONE]));
        ok(MPI_Type_set_attr(type, keys[REPLACED], text("new")));
    }
    *(char **)out = text(in);
    *flag = 1;
    return MPI_SUCCESS;
}

static void check_copies(void)
{
    check(copied[FIRST] == 1 && copied[GONE] == 0 && copied[REPLACED] == 1 && copied[LAST] == 1);
    check_equal(deleted, 2);
    memset(copied, 0, sizeof copied);
    deleted = 0;
}

static void communicators(void)
{
    MPI_Comm from, to;
    char *value;
    int flag;
    ok(MPI_Comm_dup(MPI_COMM_SELF, &from));
    for (int i = 0; i < KEYS; i++) {
        ok(MPI_Comm_create_keyval(copy_comm, delete_comm, &keys[i], NULL));
        ok(MPI_Comm_set_attr(from, keys[i], text(texts[i])));
    }
    ok(MPI_Comm_dup(from, &to));
    check_copies();
    for (int i = 0; i < KEYS; i++) {
        ok(MPI_Comm_get_attr(to, keys[i], &value, &flag));
        check_equal(flag, i != GONE);
        check(!flag || strcmp(value, i == REPLACED ? "new" : texts[i]) == 0);
        ok(MPI_Comm_free_keyval(&keys[i]));
    }
    ok(MPI_Comm_free(&to));
    ok(MPI_Comm_free(&from));
    check_equal(deleted, 6);
    deleted = 0;
}

static void datatypes(void)
{
    MPI_Datatype from, to;
    char *value;
    int flag;
    ok(MPI_Type_contiguous(3, MPI_INT, &from));
    for (int i = 0; i < KEYS; i++) {
        ok(MPI_Type_create_keyval(copy_type, delete_type, &keys[i], NULL));
        ok(MPI_Type_set_attr(from, keys[i], text(texts[i])));
    }
    ok(MPI_Type_dup(from, &to));
    check_copies();
    for (int i = 0; i < KEYS; i++) {
        ok(MPI_Type_get_attr(to, keys[i], &value, &flag));
        check_equal(flag, i != GONE);
        check(!flag || strcmp(value, i == REPLACED ? "new" : texts[i]) == 0);
        ok(MPI_Type_free_keyval(&keys[i]));
    }
    ok(MPI_Type_free(&to));
    ok(MPI_Type_free(&from));
    check_equal(deleted, 6);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    communicators();
    datatypes();
    return finish();
}
