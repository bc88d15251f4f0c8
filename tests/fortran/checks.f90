! What the programs share: they count wrong results, and the first process prints "No Errors" if no process has any.
MODULE checks
  USE mpi
  IMPLICIT NONE
  INTEGER, PRIVATE :: failures = 0
  INTEGER :: rank, ranks, ierror

CONTAINS

  ! Begins MPI.
  SUBROUTINE begin
    CALL MPI_INIT(ierror)
    CALL expect(ierror == MPI_SUCCESS, 'MPI_INIT')
    CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
    CALL MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
    CALL expect(ranks > 0 .AND. rank >= 0 .AND. rank < ranks, 'rank and size')
  END SUBROUTINE begin

  ! Counts and prints what does not hold.
  SUBROUTINE expect(holds, what)
    LOGICAL, INTENT(IN) :: holds
    CHARACTER(LEN=*), INTENT(IN) :: what
    IF (holds) RETURN
    failures = failures + 1
    PRINT '(A,I0,2A)', 'rank ', rank, ': wrong: ', what
  END SUBROUTINE expect

  ! Ends MPI.
  SUBROUTINE finish
    INTEGER :: all
    CALL MPI_ALLREDUCE(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CALL MPI_FINALIZE(ierror)
    IF (all == 0 .AND. rank == 0) PRINT '(A)', 'No Errors'
    IF (all /= 0) STOP 1
  END SUBROUTINE finish
END MODULE checks
