/* Threads that share a file: by the pointer each write has a part of its own, by offset each thread its own data. */
#include "file/file.h"
#include <pthread.h>

enum { THREADS = 4, WRITES = 200, LENGTH = 512 };

static MPI_File file;

static void *writer(void *argument)
{
    const int number = (int)(intptr_t)argument;
    unsigned char data[LENGTH], in[LENGTH];
    const MPI_Offset own = (MPI_Offset)(THREADS * WRITES + number) * LENGTH;
    memset(data, 1 + number, LENGTH);
    for (int i = 0; i < WRITES; i++) {
        ok(MPI_File_write(file, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
        ok(MPI_File_write_at(file, own, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
        ok(MPI_File_read_at(file, own, in, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
        check(memcmp(in, data, LENGTH) == 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    char name[NAME];
    unsigned char data[LENGTH];
    int seen[THREADS + 1] = {0};
    MPI_Offset at = -1;
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    name_of(name, "threads");
    name[strlen(name) - 1] = (char)('a' + rank);
    const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    ok(MPI_File_open(MPI_COMM_SELF, name, amode, MPI_INFO_NULL, &file));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, writer, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, (MPI_Offset)THREADS * WRITES * LENGTH);
    for (int i = 0; i < THREADS * WRITES; i++) {
        ok(MPI_File_read_at(file, (MPI_Offset)i * LENGTH, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE));
        check(data[0] >= 1 && data[0] <= THREADS && memcmp(data, data + 1, LENGTH - 1) == 0);
        seen[data[0] % (THREADS + 1)]++;
    }
    for (int i = 1; i <= THREADS; i++)
        check_equal(seen[i], WRITES);
    ok(MPI_File_close(&file));
    return finish();
}
