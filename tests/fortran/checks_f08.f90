! What the programs of module mpi_f08 share: they count wrong results, and the first process prints "No Errors" if no
! process has any.
MODULE checks_f08
  USE mpi_f08
  IMPLICIT NONE
  INTEGER, PRIVATE :: failures = 0
  INTEGER :: rank, ranks, ierror

CONTAINS

  ! Begins MPI.
  SUBROUTINE begin
    CALL MPI_Init(ierror)
    CALL expect(ierror == MPI_SUCCESS, 'MPI_Init')
    CALL MPI_Comm_rank(MPI_COMM_WORLD, rank)
    CALL MPI_Comm_size(MPI_COMM_WORLD, ranks)
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

  ! Whether an error code is of a class.
  LOGICAL FUNCTION is_of_class(code, wanted)
    INTEGER, INTENT(IN) :: code, wanted
    INTEGER :: class
    is_of_class = .FALSE.
    IF (code == MPI_SUCCESS) RETURN
    CALL MPI_Error_class(code, class)
    is_of_class = class == wanted
  END FUNCTION is_of_class

  ! Ends MPI.
  SUBROUTINE finish
    INTEGER :: all
    CALL MPI_Allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CALL MPI_Finalize(ierror)
    IF (all == 0 .AND. rank == 0) PRINT '(A)', 'No Errors'
    IF (all /= 0) STOP 1
  END SUBROUTINE finish
END MODULE checks_f08
