/* Classic mistakes, one by its name: each makes the job wait for ever. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static const char *mistake;

static int is(const char *name) { return strcmp(mistake, name) == 0; }

static void *receive_next(void *tag) {
    int got;
    MPI_Recv(&got, 1, MPI_INT, (rank + 1) % size, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void *receive(void *tag) {
    int got;
    MPI_Recv(&got, 1, MPI_INT, 1, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv) {
    int word = 1, other, buffer[1024] = {0}, provided;
    static int large[100000];
    mistake = argc > 1 ? argv[1] : "";
    if (is("early") && getenv("FERRUM_RANK") && atoi(getenv("FERRUM_RANK")) == 1)
        sleep(1000);
    MPI_Init_thread(&argc, &argv, is("threads") || is("pairs") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is("ring")) {
        MPI_Recv(&word, 1, MPI_INT, (rank + 1) % size, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return 0;
    }
    MPI_Comm spare, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &spare);
    MPI_Comm_set_name(spare, "spare");
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Comm_set_name(half, rank < 2 ? "low" : "high");
    MPI_Barrier(MPI_COMM_WORLD);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;

    if (is("ssend") && rank < 2) {
        MPI_Ssend(&word, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
        MPI_Recv(&other, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is("far")) {
        if (rank % (size / 2) == 0) {
            MPI_Ssend(&word, 1, MPI_INT, size / 2 - rank, 3, MPI_COMM_WORLD);
            MPI_Recv(&other, 1, MPI_INT, size / 2 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("large") && rank < 2) {
        MPI_Send(large, 100000, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
        MPI_Recv(large, 100000, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is("tag")) {
        if (rank == 0)
            MPI_Recv(&other, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Send(&word, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("source")) {
        if (rank == 0)
            MPI_Recv(&other, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("communicator")) {
        if (rank == 0)
            MPI_Recv(&other, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Send(&word, 1, MPI_INT, 0, 7, spare);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("missing")) {
        if (rank != 1)
            MPI_Scan(&word, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("root")) {
        MPI_Reduce(buffer, rank == 1 ? large : large + 1024, 1024, MPI_INT, MPI_SUM, rank == 1 ? 1 : 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("collective")) {
        if (rank == 1)
            MPI_Alltoallv(large, buffer, buffer, MPI_INT, large + 1024, buffer, buffer, MPI_INT, MPI_COMM_WORLD);
        else
            MPI_Scan(&word, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("lost")) {
        if (rank == 2) {
            usleep(300000); /* until the others wait for it */
            _exit(0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("extra")) {
        if (rank != 0)
            MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("chain")) {
        if (rank == 3) {
            usleep(300000);
            _exit(3);
        }
        if (rank == 2)
            MPI_Recv(&other, 1, MPI_INT, 3, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Recv(&other, 1, MPI_INT, 2, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Allreduce(&word, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (is("any")) {
        for (int i = 0; rank == 0 && i < size; i++)
            MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0)
            MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("finalize")) {
        if (rank == 0)
            MPI_Recv(&other, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is("loop")) {
        if (rank == 3)
            for (volatile int forever = 1; forever;)
                ;
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("sleep")) {
        if (rank == 3)
            sleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("request")) {
        MPI_Request request;
        if (rank == 3)
            sleep(1000);
        MPI_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    } else if (is("started")) {
        MPI_Request request;
        if (rank == 1)
            MPI_Ibcast(&word, 1, MPI_INT, 0, spare, &request);
        else
            MPI_Ireduce(&word, &other, 1, MPI_INT, MPI_SUM, 0, spare, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(spare);
    } else if (is("stopped")) {
        if (rank == 3)
            raise(SIGSTOP);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("circle")) {
        if (rank < 3)
            MPI_Recv(&other, 1, MPI_INT, (rank + 1) % 3, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is("receives")) {
        for (int i = 0; i < 3; i++)
            if (rank == 0)
                MPI_Ssend(&word, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
            else if (rank == 1 && i < 2)
                MPI_Recv(&other, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("communicators")) {
        MPI_Barrier(rank < 2 ? spare : MPI_COMM_WORLD);
    } else if (is("unstarted")) {
        MPI_Request request;
        if (rank == 0) {
            MPI_Send_init(&word, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(&other, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("unready") || is("partitions")) {
        MPI_Request request;
        if (rank == 0) {
            MPI_Psend_init(buffer, 2, 1, MPI_INT, 1, 14, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
            MPI_Start(&request);
            if (is("partitions"))
                MPI_Pready(0, request);
        } else if (rank == 1) {
            MPI_Precv_init(buffer, 2, 1, MPI_INT, 0, 14, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("probe")) {
        if (rank == 0)
            MPI_Probe(1, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("lock")) {
        MPI_Win window;
        MPI_Win_create(buffer, sizeof buffer, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        if (rank == 1)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 2) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
            MPI_Win_unlock(0, window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("waitall")) {
        MPI_Request requests[2];
        MPI_Irecv(&other, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&word, 1, MPI_INT, next, rank == 0 ? 2 : 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (is("partly")) {
        /* The first receive completes during the wait; nobody sends for the second one. */
        MPI_Request requests[2];
        if (rank == 0) {
            MPI_Irecv(&other, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(buffer, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else if (rank == 1) {
            usleep(300000);
            MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("polls")) {
        int flag = 0;
        MPI_Request request;
        if (rank == 0) {
            MPI_Irecv(&other, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
            while (!flag)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("dies")) {
        if (rank == 1) {
            usleep(300000);
            abort();
        }
        if (rank == 0)
            MPI_Recv(&other, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("threads")) {
        pthread_t threads[2];
        int tags[2] = {21, 22};
        if (rank == 0) {
            for (int i = 0; i < 2; i++)
                pthread_create(&threads[i], NULL, receive, &tags[i]);
            for (int i = 0; i < 2; i++)
                pthread_join(threads[i], NULL);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("pairs")) {
        pthread_t threads[2];
        int tags[2] = {21, 22};
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, receive_next, &tags[i]);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    } else if (is("split")) {
        MPI_Comm parts;
        if (rank == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &parts);
        else
            MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &parts);
    } else if (is("group")) {
        if (rank == 0)
            MPI_Recv(&other, 1, MPI_INT, 1, 7, half, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Ssend(&word, 1, MPI_INT, 0, 8, half);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return is("fails") && rank == 1 ? 3 : 0;
}
