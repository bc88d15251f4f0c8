! A shared object that a program loads without making its symbols global, as interpreters do: it recognises the variables
! that stand for constants of C, whichever object came first. MODULE is mpi or
! mpi_f08; without it, the object includes mpif.h.
INTEGER(C_INT) FUNCTION wrong() BIND(C)
  USE, INTRINSIC :: ISO_C_BINDING
#ifdef MODULE
  USE MODULE
  IMPLICIT NONE
#else
  IMPLICIT NONE
  INCLUDE 'mpif.h'
#endif
  INTEGER :: values(2), rank, ierror
  LOGICAL :: flag
  wrong = 0
  CALL MPI_INITIALIZED(flag, ierror)
  IF (.NOT. flag) CALL MPI_INIT(ierror)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  values = [1, 2]
  CALL MPI_ALLREDUCE(MPI_IN_PLACE, values, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, ierror)
  IF (ierror /= MPI_SUCCESS .OR. ANY(values /= [1, 2])) wrong = wrong + 1
  CALL MPI_SENDRECV(values(1), 1, MPI_INTEGER, rank, 1, values(2), 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, ierror)
  IF (ierror /= MPI_SUCCESS .OR. values(2) /= 1) wrong = wrong + 2
END FUNCTION wrong
