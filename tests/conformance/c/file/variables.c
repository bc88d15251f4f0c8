/* A file's variables count the accesses of this process to that file, and a handle bound to it ends with it. */
#include "file/file.h"

static MPI_T_pvar_session session;

static MPI_T_pvar_handle watch(const char *name, int class, MPI_File *file)
{
    int index = -1, count = 0;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    check_equal(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
    check_equal(MPI_T_pvar_handle_alloc(session, index, file, &handle, &count), MPI_SUCCESS);
    check_equal(count, 1);
    MPI_T_pvar_start(session, handle);
    return handle;
}

static unsigned long long value(MPI_T_pvar_handle handle)
{
    unsigned long long found = 0;
    check_equal(MPI_T_pvar_read(session, handle, &found), MPI_SUCCESS);
    return found;
}

int main(int argc, char **argv)
{
    char name[NAME], second[NAME];
    char data[100] = "";
    double pairs[6];
    unsigned long long found;
    int provided;
    MPI_File one, two;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    begin(&argc, &argv);
    name_of(name, "one");
    name_of(second, "two");
    const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    ok(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &one));
    ok(MPI_File_open(MPI_COMM_WORLD, second, amode, MPI_INFO_NULL, &two));
    check_equal(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle written = watch("file_bytes_written", MPI_T_PVAR_CLASS_AGGREGATE, &one);
    MPI_T_pvar_handle got = watch("file_bytes_read", MPI_T_PVAR_CLASS_AGGREGATE, &one);
    MPI_T_pvar_handle writes = watch("file_writes", MPI_T_PVAR_CLASS_COUNTER, &one);
    MPI_T_pvar_handle reads = watch("file_reads", MPI_T_PVAR_CLASS_COUNTER, &one);
    MPI_T_pvar_handle time = watch("file_time", MPI_T_PVAR_CLASS_TIMER, &one);
    double seconds = -1, begun = MPI_Wtime();
    MPI_T_pvar_handle other = watch("file_bytes_written", MPI_T_PVAR_CLASS_AGGREGATE, &two);

    ok(MPI_File_write_at(one, rank * 148, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    ok(MPI_File_write_at(one, rank * 148 + 100, pairs, 3, MPI_DOUBLE_INT, MPI_STATUS_IGNORE));
    ok(MPI_File_write_at(one, rank * 148 + 136, data, 12, MPI_BYTE, MPI_STATUS_IGNORE));
    check_equal(value(written), 148);
    check_equal(value(writes), 3);
    check_equal(value(other), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* The bytes read count, not the bytes requested. */
    ok(MPI_File_read_at(one, size * 148 - 30, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    check_equal(value(got), 30);
    check_equal(value(reads), 1);
    /* The system calls took a part of the time that has passed. */
    check_equal(MPI_T_pvar_read(session, time, &seconds), MPI_SUCCESS);
    check(seconds > 0 && seconds <= MPI_Wtime() - begun);
    /* Interleaved records go through shared windows, which one process writes in one call. */
    enum { RECORDS = 4096 };
    static int records[RECORDS];
    MPI_T_pvar_handle calls = watch("file_system_calls", MPI_T_PVAR_CLASS_COUNTER, &two);
    MPI_T_pvar_handle buffered = watch("file_collectively_buffered", MPI_T_PVAR_CLASS_COUNTER, &two);
    MPI_T_pvar_handle through = watch("file_bytes_collectively_buffered", MPI_T_PVAR_CLASS_AGGREGATE, &two);
    MPI_Datatype mine;
    ok(MPI_Type_create_resized(MPI_INT, 0, size * sizeof(int), &mine));
    ok(MPI_Type_commit(&mine));
    ok(MPI_File_set_view(two, rank * sizeof(int), MPI_INT, mine, "native", MPI_INFO_NULL));
    ok(MPI_File_write_all(two, records, RECORDS, MPI_INT, MPI_STATUS_IGNORE));
    check_equal(value(calls), rank == 0);
    check_equal(value(buffered), size > 1);
    check_equal(value(through), size > 1 ? sizeof records : 0);
    check_equal(value(other), sizeof records);
    /* One process reads a range, which may end with the file, and writes it back. */
    ok(MPI_File_write_at(two, RECORDS, records, 100, MPI_INT, MPI_STATUS_IGNORE));
    const int few = value(calls);
    check(few >= (rank == 0) + 1 && few <= (rank == 0) + 3);
    /* It writes each of its records alone. */
    MPI_Info alone;
    ok(MPI_Info_create(&alone));
    ok(MPI_Info_set(alone, "romio_ds_write", "disable"));
    ok(MPI_File_set_info(two, alone));
    ok(MPI_Info_free(&alone));
    ok(MPI_File_write_at(two, RECORDS, records, 100, MPI_INT, MPI_STATUS_IGNORE));
    check_equal(value(calls), few + (size > 1 ? 100 : 1));
    check_equal(value(buffered), size > 1);
    ok(MPI_Type_free(&mine));
    ok(MPI_File_close(&one));
    check(MPI_T_pvar_read(session, written, &found) != MPI_SUCCESS);
    ok(MPI_File_close(&two));
    check_equal(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    MPI_T_finalize();
    return finish();
}
