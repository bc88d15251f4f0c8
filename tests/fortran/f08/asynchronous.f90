! ASYNCHRONOUS protects buffers of operations under way: the compiler keeps no copy of a local variable in a register
! from the start of an operation to its end, though no call between them has the variable as its argument.
PROGRAM asynchronous_buffers
  USE checks_f08
  IMPLICIT NONE
  LOGICAL, PARAMETER :: protects = MPI_ASYNC_PROTECTS_NONBLOCKING
  INTEGER :: i

  CALL begin
  CALL expect(protects, 'MPI_ASYNC_PROTECTS_NONBLOCKING')
  DO i = 1, 10
    CALL receive(i)
  END DO
  CALL finish

CONTAINS

  SUBROUTINE receive(number)
    INTEGER, INTENT(IN) :: number
    INTEGER, ASYNCHRONOUS :: got, sent
    INTEGER, ASYNCHRONOUS :: list(4)
    TYPE(MPI_Request) :: requests(3)
    got = -1
    list = -2
    CALL MPI_Irecv(got, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, requests(1))
    CALL MPI_Irecv(list(1:4:3), 2, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, requests(2))
    sent = number
    CALL MPI_Issend(sent, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, requests(3))
    CALL MPI_Send([number, -number], 2, MPI_INTEGER, rank, 2, MPI_COMM_WORLD)
    CALL MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    CALL expect(got == number, 'a scalar that an operation has written')
    CALL expect(ALL(list == [number, -2, -2, -number]), 'a section that an operation has written')
  END SUBROUTINE receive
END PROGRAM asynchronous_buffers
