/* A count of more bytes than memory can have is an error of class MPI_ERR_COUNT in every function with a count, and
 * nothing is sent, received or started. The bytes of 2^61 elements of MPI_DOUBLE are 0 modulo 2^64. */
#include "file/file.h"

#define HUGE_COUNT ((MPI_Count)1 << 61)
/* One process could have this many bytes, two could not. */
#define HALF_COUNT ((MPI_Count)1 << 62)

static double memory[64], other[64];
static MPI_Comm comm;

/* A call that would start an operation returns no request. */
#define check_start(call, request)                                                                                     \
    do {                                                                                                               \
        request = MPI_REQUEST_NULL;                                                                                    \
        check_class(call, MPI_ERR_COUNT);                                                                              \
        check(request == MPI_REQUEST_NULL);                                                                            \
    } while (0)
#define too_many(call) check_class(call, MPI_ERR_COUNT)

static void messages(void)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    const MPI_Count n = HUGE_COUNT;
    const int peer = (rank + 1) % size;
    too_many(MPI_Send_c(memory, n, MPI_DOUBLE, peer, 1, comm));
    too_many(MPI_Ssend_c(memory, n, MPI_DOUBLE, peer, 1, comm));
    too_many(MPI_Rsend_c(memory, n, MPI_DOUBLE, peer, 1, comm));
    too_many(MPI_Bsend_c(memory, n, MPI_DOUBLE, peer, 1, comm));
    too_many(MPI_Send_c(memory, n, MPI_DOUBLE, MPI_PROC_NULL, 1, comm));
    too_many(MPI_Recv_c(memory, n, MPI_DOUBLE, peer, 1, comm, &status));
    too_many(MPI_Sendrecv_c(memory, n, MPI_DOUBLE, peer, 1, other, 1, MPI_DOUBLE, peer, 1, comm, &status));
    too_many(MPI_Sendrecv_c(memory, 1, MPI_DOUBLE, peer, 1, other, n, MPI_DOUBLE, peer, 1, comm, &status));
    too_many(MPI_Sendrecv_replace_c(memory, n, MPI_DOUBLE, peer, 1, peer, 1, comm, &status));
    check_start(MPI_Isend_c(memory, n, MPI_DOUBLE, peer, 1, comm, &request), request);
    check_start(MPI_Issend_c(memory, n, MPI_DOUBLE, peer, 1, comm, &request), request);
    check_start(MPI_Irsend_c(memory, n, MPI_DOUBLE, peer, 1, comm, &request), request);
    check_start(MPI_Ibsend_c(memory, n, MPI_DOUBLE, peer, 1, comm, &request), request);
    check_start(MPI_Irecv_c(memory, n, MPI_DOUBLE, peer, 1, comm, &request), request);

    /* A matched message remains. */
    ok(MPI_Isend(memory, 1, MPI_DOUBLE, rank, 2, comm, &request));
    ok(MPI_Mprobe(rank, 2, comm, &message, &status));
    too_many(MPI_Mrecv_c(other, n, MPI_DOUBLE, &message, &status));
    MPI_Request receive;
    check_start(MPI_Imrecv_c(other, n, MPI_DOUBLE, &message, &receive), receive);
    ok(MPI_Mrecv_c(other, 1, MPI_DOUBLE, &message, &status));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));

    /* The gaps of a type count. */
    too_many(MPI_Send_c(memory, ((MPI_Count)1 << 58) + 1, MPI_LONG_DOUBLE_INT, peer, 1, comm));
    too_many(MPI_Recv_c(memory, ((MPI_Count)1 << 58) + 1, MPI_LONG_DOUBLE_INT, peer, 1, comm, &status));
    too_many(MPI_Status_set_elements_c(&status, MPI_DOUBLE, n));
    too_many(MPI_Status_set_elements_x(&status, MPI_DOUBLE, n));
    too_many(MPI_Status_set_elements_c(&status, MPI_DOUBLE_INT, ((MPI_Count)1 << 61) + 1));

    static char buffer[4096];
    ok(MPI_Buffer_attach_c(buffer, sizeof buffer));
    too_many(MPI_Bsend_c(memory, n, MPI_DOUBLE, peer, 1, comm));
    check_start(MPI_Ibsend_c(memory, n, MPI_DOUBLE, peer, 1, comm, &request), request);
    void *address;
    MPI_Count bytes;
    ok(MPI_Buffer_detach_c(&address, &bytes));
}

/* The counts of all processes are wrong: none of them sends anything. */
static void collectives(MPI_Comm over)
{
    const MPI_Count n = HUGE_COUNT;
    int own, processes;
    MPI_Comm_rank(over, &own);
    MPI_Comm_size(over, &processes);
    too_many(MPI_Bcast_c(memory, n, MPI_DOUBLE, 0, over));
    too_many(MPI_Reduce_c(memory, other, n, MPI_DOUBLE, MPI_SUM, 0, over));
    too_many(MPI_Reduce_c(own == 0 ? MPI_IN_PLACE : memory, other, n, MPI_DOUBLE, MPI_SUM, 0, over));
    too_many(MPI_Allreduce_c(memory, other, n, MPI_DOUBLE, MPI_SUM, over));
    too_many(MPI_Allreduce_c(MPI_IN_PLACE, other, n, MPI_DOUBLE, MPI_SUM, over));
    too_many(MPI_Gather_c(memory, n, MPI_DOUBLE, other, n, MPI_DOUBLE, 0, over));
    too_many(MPI_Scatter_c(memory, n, MPI_DOUBLE, other, n, MPI_DOUBLE, 0, over));
    too_many(MPI_Allgather_c(memory, n, MPI_DOUBLE, other, n, MPI_DOUBLE, over));
    too_many(MPI_Allgather_c(memory, 1, MPI_DOUBLE, other, n, MPI_DOUBLE, over));
    too_many(MPI_Allgather_c(MPI_IN_PLACE, 1, MPI_DOUBLE, other, n, MPI_DOUBLE, over));
    too_many(MPI_Alltoall_c(memory, n, MPI_DOUBLE, other, n, MPI_DOUBLE, over));
    too_many(MPI_Alltoall_c(memory, n, MPI_DOUBLE, other, 1, MPI_DOUBLE, over));
    too_many(MPI_Alltoall_c(MPI_IN_PLACE, 1, MPI_DOUBLE, other, n, MPI_DOUBLE, over));
    if (processes > 1) {
        const MPI_Count half = HALF_COUNT;
        too_many(MPI_Allgather_c(memory, 1, MPI_CHAR, other, half, MPI_CHAR, over));
        too_many(MPI_Alltoall_c(memory, half, MPI_CHAR, other, 1, MPI_CHAR, over));
        too_many(MPI_Alltoall_c(memory, 1, MPI_CHAR, other, half, MPI_CHAR, over));
        /* The root's buffer alone is this many times as large. */
        if (own == 0) {
            too_many(MPI_Gather_c(memory, 1, MPI_CHAR, other, half, MPI_CHAR, 0, over));
            too_many(MPI_Scatter_c(memory, half, MPI_CHAR, other, 1, MPI_CHAR, 0, over));
        }
    }
    too_many(MPI_Reduce_local_c(memory, other, n, MPI_DOUBLE, MPI_SUM));
    too_many(MPI_Reduce_local_c(memory, other, ((MPI_Count)1 << 58) + 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC));
}

static void one_sided(void)
{
    static double window[8];
    const MPI_Count n = HUGE_COUNT;
    MPI_Win win;
    ok(MPI_Win_create(window, sizeof window, 1, MPI_INFO_NULL, comm, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    ok(MPI_Win_fence(0, win));
    for (int own = 0; own < 2; own++) {
        int to = own ? rank : (rank + 1) % size;
        too_many(MPI_Put_c(memory, n, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, win));
        too_many(MPI_Put_c(memory, 1, MPI_DOUBLE, to, 0, n, MPI_DOUBLE, win));
        too_many(MPI_Get_c(memory, n, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, win));
        too_many(MPI_Get_c(memory, 1, MPI_DOUBLE, to, 0, n, MPI_DOUBLE, win));
        too_many(MPI_Accumulate_c(memory, n, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_SUM, win));
        too_many(MPI_Accumulate_c(memory, 1, MPI_DOUBLE, to, 0, n, MPI_DOUBLE, MPI_SUM, win));
        too_many(MPI_Get_accumulate_c(memory, n, MPI_DOUBLE, other, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_SUM, win));
        too_many(MPI_Get_accumulate_c(memory, 1, MPI_DOUBLE, other, n, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_SUM, win));
        too_many(MPI_Get_accumulate_c(memory, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, to, 0, n, MPI_DOUBLE, MPI_SUM, win));
        too_many(MPI_Get_accumulate_c(NULL, 0, MPI_DOUBLE, other, n, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_NO_OP, win));
    }
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_free(&win));
}

static void files(void)
{
    const MPI_Count n = HUGE_COUNT;
    char name[NAME];
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    name_of(name, "counts");
    ok(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    too_many(MPI_File_read_c(file, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_read_at_c(file, 0, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_read_all_c(file, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_read_at_all_c(file, 0, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_read_shared_c(file, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_read_ordered_c(file, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_read_all_begin_c(file, memory, n, MPI_DOUBLE));
    too_many(MPI_File_read_at_all_begin_c(file, 0, memory, n, MPI_DOUBLE));
    too_many(MPI_File_read_ordered_begin_c(file, memory, n, MPI_DOUBLE));
    too_many(MPI_File_write_c(file, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_write_at_c(file, 0, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_write_all_c(file, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_write_at_all_c(file, 0, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_write_shared_c(file, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_write_ordered_c(file, memory, n, MPI_DOUBLE, &status));
    too_many(MPI_File_write_all_begin_c(file, memory, n, MPI_DOUBLE));
    too_many(MPI_File_write_at_all_begin_c(file, 0, memory, n, MPI_DOUBLE));
    too_many(MPI_File_write_ordered_begin_c(file, memory, n, MPI_DOUBLE));
    check_start(MPI_File_iread_c(file, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iread_at_c(file, 0, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iread_all_c(file, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iread_at_all_c(file, 0, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iread_shared_c(file, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iwrite_c(file, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iwrite_at_c(file, 0, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iwrite_all_c(file, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iwrite_at_all_c(file, 0, memory, n, MPI_DOUBLE, &request), request);
    check_start(MPI_File_iwrite_shared_c(file, memory, n, MPI_DOUBLE, &request), request);
    MPI_Offset bytes = -1;
    ok(MPI_File_get_size(file, &bytes));
    check_equal(bytes, 0);
    ok(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    messages();
    collectives(MPI_COMM_SELF);
    collectives(comm);
    one_sided();
    files();

    /* No refused call has left anything: the next messages arrive. */
    int in = -1, flag = 1;
    ok(MPI_Barrier(comm));
    ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    check_equal(flag, 0);
    ok(MPI_Barrier(comm));
    ok(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1, comm,
                    MPI_STATUS_IGNORE));
    check_equal(in, (rank + size - 1) % size);
    ok(MPI_Comm_free(&comm));
    return finish();
}
