! A token is sent around all processes, each adds its rank, and the first one checks the sum.
!
!   mpifort ring.f90 -o ring && mpiexec -n 4 ./ring
PROGRAM ring
  USE mpi
  IMPLICIT NONE
  INTEGER, PARAMETER :: rounds = 1000
  INTEGER :: rank, ranks, next, previous, round, length, ierror
  INTEGER(8) :: token, expected
  DOUBLE PRECISION :: start, each
  CHARACTER(LEN=MPI_MAX_PROCESSOR_NAME) :: host
  CHARACTER(LEN=7) :: verdict

  CALL MPI_INIT(ierror)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  CALL MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  CALL MPI_GET_PROCESSOR_NAME(host, length, ierror)
  next = MOD(rank + 1, ranks)
  previous = MOD(rank + ranks - 1, ranks)
  token = 0
  start = MPI_WTIME()
  DO round = 1, rounds
    IF (rank == 0) THEN
      CALL MPI_SENDRECV_REPLACE(token, 1, MPI_INTEGER8, next, round, previous, round, MPI_COMM_WORLD, &
        MPI_STATUS_IGNORE, ierror)
    ELSE
      CALL MPI_RECV(token, 1, MPI_INTEGER8, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      token = token + rank
      CALL MPI_SEND(token, 1, MPI_INTEGER8, next, round, MPI_COMM_WORLD, ierror)
    END IF
  END DO
  each = (MPI_WTIME() - start) / rounds / ranks
  IF (rank == 0) THEN
    expected = INT(rounds, 8) * ranks * (ranks - 1) / 2
    verdict = MERGE('correct', 'WRONG  ', token == expected)
    PRINT '(A,I0,3A,I0,A,I0,3A,F0.2,A)', 'ring of ', ranks, ' processes on ', TRIM(host), ': ', rounds, ' rounds, sum ', &
      token, ' (', TRIM(verdict), '), ', each * 1E6, ' us a hop'
  END IF
  CALL MPI_FINALIZE(ierror)
END PROGRAM ring
