! A program that is linked with a tool in Fortran (tools/tool.f90), which sees its calls of MPI_SEND alone.
PROGRAM tool
  USE checks
  IMPLICIT NONE
  INTEGER :: calls, sent, request, value(3)
  COMMON /counted/ calls, sent
  calls = 0
  sent = 0
  CALL begin
  CALL MPI_IRECV(value, 3, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, request, ierror)
  CALL MPI_SEND((/ 1, 2, 3 /), 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierror)
  CALL expect(calls == 1 .AND. sent == 3, 'the tool sees the call')
  CALL MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
  CALL expect(ALL(value == (/ 1, 2, 3 /)), 'the message')
  CALL MPI_SENDRECV((/ 4 /), 1, MPI_INTEGER, 0, 2, value, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
  CALL MPI_ISEND(value, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, request, ierror)
  CALL MPI_RECV(value, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
  CALL MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
  CALL expect(calls == 1, 'the tool sees no other call')
  CALL PMPI_BARRIER(MPI_COMM_WORLD, ierror)
  CALL finish
END PROGRAM tool
