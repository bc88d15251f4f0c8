! A program that is linked with a tool in Fortran (tools/tool_f08.f90), which sees its calls of MPI_Send and
! MPI_Barrier alone.
PROGRAM tool_f08
  USE checks_f08
  IMPLICIT NONE
  INTEGER :: calls, sent, barriers, value(6)
  COMMON /counted/ calls, sent, barriers
  TYPE(MPI_Request) :: request
  calls = 0
  sent = 0
  barriers = 0
  CALL begin
  value = 0
  CALL MPI_Irecv(value, 3, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, request)
  CALL MPI_Send([1, 2, 3], 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierror)
  CALL expect(calls == 1 .AND. sent == 3 .AND. ierror == MPI_SUCCESS, 'the tool sees the call')
  CALL MPI_Wait(request, MPI_STATUS_IGNORE)
  CALL MPI_F_sync_reg(value)
  CALL expect(ALL(value(1:3) == [1, 2, 3]), 'the message')
  CALL MPI_Irecv(value(6:2:-2), 3, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, request)
  CALL MPI_Send(value(3:1:-2), 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  CALL MPI_Wait(request, MPI_STATUS_IGNORE)
  CALL MPI_F_sync_reg(value)
  CALL expect(calls == 2 .AND. sent == 5 .AND. value(6) == 3 .AND. value(4) == 1, 'a section through the tool')
  CALL PMPI_Send(value, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_SELF)
  CALL MPI_Send(value, 1_MPI_COUNT_KIND, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_SELF)
  CALL MPI_Ssend(value, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_SELF)
  CALL expect(calls == 2, 'the tool sees no other call')
  CALL MPI_Barrier(MPI_COMM_WORLD)
  CALL PMPI_Barrier(MPI_COMM_WORLD)
  CALL expect(barriers == 1, 'the tool sees the barrier')
  CALL finish
END PROGRAM tool_f08
