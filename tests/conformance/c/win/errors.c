/* Every rule of one-sided calls that a program can violate, and its error class. The window can be used afterwards. */
#include "check.h"

static char text[MPI_MAX_ERROR_STRING];

static const char *sentence(int code)
{
    int length;
    MPI_Error_string(code, text, &length);
    return text;
}

#define check_says(call, part)                                                                                         \
    do {                                                                                                               \
        const char *text = sentence(call);                                                                             \
        if (!strstr(text, part) && wrong++ < 10)                                                                       \
            fprintf(stderr, "%s:%d: rank %d: %s gives \"%s\", not \"%s\"\n", __FILE__, __LINE__, rank, #call, text,  \
                    part);                                                                                             \
    } while (0)

static void creating(char *memory)
{
    MPI_Win win = MPI_WIN_NULL;
    char *base;
    check_class(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    check_class(MPI_Win_create(memory, 10, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    check_class(MPI_Win_create(memory, 10, -4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    check_class(MPI_Win_create(NULL, 10, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
    check_class(MPI_Win_create(memory, 10, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    check_class(MPI_Win_create(memory, 10, 1, (MPI_Info)memory, MPI_COMM_WORLD, &win), MPI_ERR_INFO);
    check_class(MPI_Win_create(memory, 10, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    check_class(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_SIZE);
    check_class(MPI_Win_allocate(10, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_DISP);
    check_class(MPI_Win_allocate(10, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &win), MPI_ERR_ARG);
    check(win == MPI_WIN_NULL);
    /* If one process passes no memory, the window fails in all. */
    MPI_Aint much = rank == size - 1 ? (MPI_Aint)1 << 60 : 8;
    check_class(MPI_Win_allocate(much, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_NO_MEM);
}

static void handles(char *memory)
{
    MPI_Win never = MPI_WIN_NULL, freed, of_self;
    MPI_Group group;
    ok(MPI_Win_create(memory, 10, 1, MPI_INFO_NULL, MPI_COMM_SELF, &of_self));
    freed = of_self;
    ok(MPI_Win_free(&of_self));
    MPI_Win bad[] = {MPI_WIN_NULL, freed, (MPI_Win)MPI_COMM_WORLD, (MPI_Win)(MPI_Aint)-1, (MPI_Win)memory};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        never = bad[i];
        check_class(MPI_Win_fence(0, bad[i]), MPI_ERR_WIN);
        check_class(MPI_Put(memory, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, bad[i]), MPI_ERR_WIN);
        check_class(MPI_Win_get_group(bad[i], &group), MPI_ERR_WIN);
        check_class(MPI_Win_set_name(bad[i], "x"), MPI_ERR_WIN);
        check_class(MPI_Win_free(&never), MPI_ERR_WIN);
    }
    check_class(MPI_Win_free(NULL), MPI_ERR_ARG);
}

static void sum(void *in, void *inout, int *length, MPI_Datatype *datatype)
{
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    char memory[80], data[80], back[80];
    MPI_Win win;
    memset(memory, 0, sizeof memory);
    memset(data, 1, sizeof data);
    creating(memory);
    handles(memory);
    ok(MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    ok(MPI_Win_set_name(win, "halo"));
    int other = size - 1;

    /* Before the first fence and after the last there is no epoch. */
    check_class(MPI_Put(data, 1, MPI_CHAR, other, 0, 1, MPI_CHAR, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Get(data, 1, MPI_CHAR, other, 0, 1, MPI_CHAR, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Accumulate(data, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Put(data, 1, MPI_CHAR, MPI_PROC_NULL, 0, 1, MPI_CHAR, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Fetch_and_op(data, back, MPI_INT, other, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Compare_and_swap(data, data, back, MPI_INT, other, 0, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    check_class(MPI_Win_fence(-1, win), MPI_ERR_ASSERT);
    check_class(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
    ok(MPI_Win_fence(0, win));

    check_class(MPI_Put(data, 1, MPI_CHAR, size, 0, 1, MPI_CHAR, win), MPI_ERR_RANK);
    check_class(MPI_Put(data, 1, MPI_CHAR, -1, 0, 1, MPI_CHAR, win), MPI_ERR_RANK);
    check_class(MPI_Get(data, 1, MPI_CHAR, MPI_ANY_SOURCE, 0, 1, MPI_CHAR, win), MPI_ERR_RANK);
    check_class(MPI_Put(data, -1, MPI_CHAR, other, 0, 1, MPI_CHAR, win), MPI_ERR_COUNT);
    check_class(MPI_Put(data, 1, MPI_CHAR, other, 0, -1, MPI_CHAR, win), MPI_ERR_COUNT);
    check_class(MPI_Put(data, 1, MPI_DATATYPE_NULL, other, 0, 1, MPI_CHAR, win), MPI_ERR_TYPE);
    check_class(MPI_Put(data, 1, MPI_CHAR, other, 0, 1, MPI_DATATYPE_NULL, win), MPI_ERR_TYPE);
    check_class(MPI_Put(NULL, 1, MPI_CHAR, other, 0, 1, MPI_CHAR, win), MPI_ERR_BUFFER);
    check_class(MPI_Get(NULL, 1, MPI_CHAR, other, 0, 1, MPI_CHAR, win), MPI_ERR_BUFFER);
    check_class(MPI_Put(data, 1, MPI_CHAR, other, -1, 1, MPI_CHAR, win), MPI_ERR_DISP);
    check_class(MPI_Put(data, 1, MPI_CHAR, other, 10, 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Put(data, 2, MPI_DOUBLE, other, 9, 2, MPI_DOUBLE, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Get(data, 1, MPI_CHAR, other, ((MPI_Aint)1 << 62), 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Get_c(data, 1, MPI_CHAR, other, 0, (MPI_Count)1 << 40, MPI_DOUBLE, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Get_c(data, 1, MPI_CHAR, other, 0, (MPI_Count)1 << 62, MPI_DOUBLE, win), MPI_ERR_COUNT);
    check_class(MPI_Accumulate(data, 10, MPI_INT, other, 6, 10, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Put(data, 3, MPI_INT, other, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
    check_class(MPI_Get(data, 2, MPI_INT, other, 0, 3, MPI_INT, win), MPI_ERR_TRUNCATE);

    MPI_Op own;
    ok(MPI_Op_create(sum, 1, &own));
    check_class(MPI_Accumulate(data, 1, MPI_INT, other, 0, 1, MPI_INT, own, win), MPI_ERR_OP);
    check_class(MPI_Accumulate(data, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    check_class(MPI_Accumulate(data, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    check_class(MPI_Accumulate(data, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_MAXLOC, win), MPI_ERR_OP);
    check_class(MPI_Accumulate(data, 1, MPI_DOUBLE, other, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    check_class(MPI_Accumulate(data, 2, MPI_INT, other, 0, 1, MPI_DOUBLE, MPI_SUM, win), MPI_ERR_TYPE);
    check_class(MPI_Fetch_and_op(data, back, MPI_INT, other, 0, own, win), MPI_ERR_OP);
    ok(MPI_Op_free(&own));
    check_class(MPI_Fetch_and_op(data, back, MPI_INT, other, 10, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Fetch_and_op(data, NULL, MPI_INT, other, 0, MPI_SUM, win), MPI_ERR_BUFFER);
    check_class(MPI_Fetch_and_op(NULL, back, MPI_INT, other, 0, MPI_SUM, win), MPI_ERR_BUFFER);
    check_class(MPI_Fetch_and_op(data, back, MPI_DOUBLE, other, 0, MPI_BAND, win), MPI_ERR_OP);
    check_class(MPI_Compare_and_swap(data, data, back, MPI_FLOAT, other, 0, win), MPI_ERR_TYPE);
    check_class(MPI_Compare_and_swap(data, data, back, MPI_2INT, other, 0, win), MPI_ERR_TYPE);
    check_class(MPI_Compare_and_swap(data, NULL, back, MPI_INT, other, 0, win), MPI_ERR_BUFFER);
    check_class(MPI_Compare_and_swap(data, data, back, MPI_INT, size, 0, win), MPI_ERR_RANK);
    check_class(MPI_Get_accumulate(data, 2, MPI_INT, back, 1, MPI_INT, other, 0, 2, MPI_INT, MPI_SUM, win),
                MPI_ERR_TRUNCATE);
    check_class(MPI_Get_accumulate(data, 2, MPI_INT, back, 2, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win),
                MPI_ERR_TRUNCATE);
    check_class(MPI_Get_accumulate(data, 1, MPI_INT, back, 1, MPI_FLOAT, other, 0, 1, MPI_INT, MPI_SUM, win),
                MPI_ERR_TYPE);
    check_class(MPI_Get_accumulate(data, -1, MPI_INT, back, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win),
                MPI_ERR_COUNT);

    /* Accumulations without elements, and those to MPI_PROC_NULL, have no type mismatch. */
    ok(MPI_Accumulate(data, 0, MPI_INT, other, 0, 0, MPI_DOUBLE, MPI_SUM, win));
    ok(MPI_Accumulate(data, 0, MPI_INT, other, 0, 1, MPI_DOUBLE, MPI_SUM, win));
    ok(MPI_Accumulate(data, 2, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM, win));
    ok(MPI_Get_accumulate(data, 0, MPI_INT, back, 0, MPI_FLOAT, other, 0, 0, MPI_DOUBLE, MPI_SUM, win));
    ok(MPI_Get_accumulate(data, 1, MPI_INT, back, 1, MPI_FLOAT, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM, win));
    ok(MPI_Get_accumulate(NULL, 0, MPI_INT, back, 1, MPI_FLOAT, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_NO_OP, win));
    /* Nor is an operation applied that the type does not have. */
    ok(MPI_Accumulate(data, 0, MPI_BYTE, 0, 0, 0, MPI_BYTE, MPI_SUM, win));
    ok(MPI_Get_accumulate(data, 0, MPI_BYTE, back, 0, MPI_BYTE, 0, 0, 0, MPI_BYTE, MPI_SUM, win));
    ok(MPI_Get_accumulate(data, 1, MPI_BYTE, back, 1, MPI_BYTE, MPI_PROC_NULL, 0, 1, MPI_BYTE, MPI_SUM, win));

    /* The texts name the wrong argument. */
    check_says(MPI_Put(data, 2, MPI_DOUBLE, other, 9, 2, MPI_DOUBLE, win), "window \"halo\" has 80 bytes there");
    check_says(MPI_Put(data, 2, MPI_DOUBLE, other, 9, 2, MPI_DOUBLE, win), "target_disp is 9");
    check_says(MPI_Put(data, 1, MPI_CHAR, 4711, 0, 1, MPI_CHAR, win), "target_rank is 4711");
    check_says(MPI_Win_fence(MPI_MODE_NOCHECK, win), "assert is 1024");
    /* They name the window, the rank and the epoch, too. */
    check_says(MPI_Put(data, 1, MPI_CHAR, other, -1, 1, MPI_CHAR, win), "on window \"halo\" (epoch of MPI_Win_fence)");
    char named[40];
    snprintf(named, sizeof named, "target_rank is %d", other);
    check_says(MPI_Put(data, 1, MPI_CHAR, other, -1, 1, MPI_CHAR, win), named);
    check_says(MPI_Put(data, 3, MPI_INT, other, 0, 2, MPI_INT, win), named);
    check_says(MPI_Get(data, 2, MPI_INT, other, 0, 3, MPI_INT, win), named);
    check_says(MPI_Accumulate(data, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_NO_OP, win), named);
    check_says(MPI_Fetch_and_op(data, back, MPI_DOUBLE, other, 0, MPI_BAND, win), named);
    check_says(MPI_Compare_and_swap(data, data, back, MPI_FLOAT, other, 0, win), named);

    /* Operations must be completed before the window is freed; assertions must be true. */
    int one = 1;
    ok(MPI_Put(&one, 1, MPI_INT, other, 0, 1, MPI_INT, win));
    check_class(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    check(win != MPI_WIN_NULL);
    check_class(MPI_Win_fence(MPI_MODE_NOPRECEDE, win), MPI_ERR_ASSERT);
    if (rank == other)
        check_equal(*(int *)memory, 1);
    ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    check_class(MPI_Put(data, 1, MPI_CHAR, other, 0, 1, MPI_CHAR, win), MPI_ERR_RMA_SYNC);
    for (int i = 4; i < 80; i++)
        check_equal(memory[i], 0);
    ok(MPI_Win_free(&win));

    /* A refused operation was not started. */
    ok(MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    ok(MPI_Win_fence(0, win));
    check_class(MPI_Put(data, 3, MPI_INT, other, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
    check_class(MPI_Get(data, 2, MPI_INT, other, 0, 3, MPI_INT, win), MPI_ERR_TRUNCATE);
    check_class(MPI_Get_accumulate(data, 2, MPI_INT, back, 1, MPI_INT, other, 0, 2, MPI_INT, MPI_SUM, win),
                MPI_ERR_TRUNCATE);
    ok(MPI_Win_free(&win));
    return finish();
}
