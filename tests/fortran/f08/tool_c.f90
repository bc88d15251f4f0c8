! A program that is linked with a tool in C (tools/tool_c.c): a call with a section with gaps is one call for the
! tool, which gets constants of C for those of Fortran and sees nothing of the datatypes that describe sections.
PROGRAM tool_c
  USE, INTRINSIC :: ISO_C_BINDING
  USE checks_f08
  IMPLICIT NONE
  INTERFACE
    INTEGER(C_INT) FUNCTION calls_of(place) BIND(C)
      IMPORT :: C_INT
      INTEGER(C_INT), VALUE :: place
    END FUNCTION calls_of
  END INTERFACE
  INTEGER, ASYNCHRONOUS :: out(10), in(10)
  TYPE(MPI_Request) :: request
  INTEGER :: i

  CALL begin
  out = [(i, i = 1, 10)]
  in = 0
  CALL MPI_Irecv(in(1:10:3), 4, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request)
  CALL MPI_Send(out(10:1:-3), 4, MPI_INTEGER, rank, 1, MPI_COMM_WORLD)
  CALL MPI_Wait(request, MPI_STATUS_IGNORE)
  CALL MPI_F_sync_reg(in)
  CALL expect(ALL(in(1:10:3) == [10, 7, 4, 1]), 'the message')
  CALL expect(calls_of(0) == 1 .AND. calls_of(1) == 1, 'one call of MPI_Irecv and of MPI_Send')
  CALL expect(calls_of(2) == 1, 'MPI_Wait with MPI_STATUS_IGNORE')
  CALL expect(calls_of(3) == 0, 'datatypes')
  CALL PMPI_Send(out(10:1:-3), 4, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD)
  CALL expect(calls_of(1) == 1, 'PMPI_Send')
  IF (rank == 0) in(1:10:3) = 5
  CALL MPI_Bcast(in(1:10:3), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
  CALL expect(calls_of(4) == 1 .AND. ALL(in(1:10:3) == 5), 'MPI_Bcast')
  out = rank
  CALL MPI_Allreduce(MPI_IN_PLACE, out(1:10:9), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  CALL expect(calls_of(5) == 1 .AND. ALL(out(1:10:9) == ranks * (ranks - 1) / 2), 'MPI_Allreduce with MPI_IN_PLACE')
  CALL finish
END PROGRAM tool_c
