! Array sections that are too small or cannot be passed: one error each, which names the numbers, with a code of the
! library, and no memory touched besides what a call defines.
PROGRAM section_errors
  USE checks_f08
  IMPLICIT NONE
  TYPE(MPI_Errhandler) :: handler
  TYPE(MPI_Datatype) :: freed, spread
  TYPE(MPI_Request) :: request
  INTEGER :: line(40), got(40), i, class, next_class, calls, length
  INTEGER, ALLOCATABLE :: wide(:, :)
  CHARACTER(LEN=MPI_MAX_ERROR_STRING) :: text

  CALL begin
  calls = 0
  line = [(i, i = 1, 40)]
  CALL MPI_Comm_create_errhandler(count_call, handler)
  CALL MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
  CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
  CALL MPI_Add_error_class(class)

  ! The same numbers of errors by a datatype, by a copy and by a statement.
  CALL MPI_Isend(line(1:9:2), 6, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, ierror)
  CALL once(MPI_ERR_COUNT, 'MPI_Isend')
  CALL MPI_Error_string(ierror, text, length)
  CALL expect(INDEX(text, '5 elements of 4 bytes, 20 bytes') > 0 .AND. INDEX(text, '24 bytes') > 0, 'the numbers')
  CALL expect(INDEX(text, 'MPI_Isend') > 0, 'the name of the call')
  CALL MPI_Bcast(line(1:9:2), 6, MPI_INTEGER, 0, MPI_COMM_SELF, ierror)
  CALL once(MPI_ERR_COUNT, 'MPI_Bcast')
  CALL MPI_Error_string(ierror, text, length)
  CALL expect(INDEX(text, '5 elements of 4 bytes, 20 bytes') > 0 .AND. INDEX(text, '24 bytes') > 0, 'the numbers')
  got = -1
  CALL MPI_Allreduce(line(1:9:2), got(1:40:39), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, ierror)
  CALL once(MPI_ERR_COUNT, 'MPI_Allreduce')
  CALL MPI_Reduce_local(line(1:9:2), got(1:40:39), 2, MPI_2INTEGER, MPI_MAXLOC, ierror)
  CALL once(MPI_ERR_COUNT, 'MPI_Reduce_local')
  CALL MPI_Allreduce(line(1:40:39), got, HUGE(1), MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, ierror)
  CALL once(MPI_ERR_COUNT, 'a huge count')
  CALL MPI_Pack(line, 10, MPI_INTEGER, got(1:40:4), 400, i, MPI_COMM_SELF, ierror)
  CALL once(MPI_ERR_COUNT, 'MPI_Pack')
  i = 0
  CALL MPI_Unpack(got(1:40:4), 41, i, line, 1, MPI_INTEGER, MPI_COMM_SELF, ierror)
  CALL once(MPI_ERR_COUNT, 'MPI_Unpack')
  CALL expect(ALL(got == -1), 'memory of calls that have failed')
  CALL MPI_Win_create_dynamic_of_section

  ! A part for each process.
  ALLOCATE (wide(2, 2 * ranks))
  wide = -1
  CALL MPI_Allgather(line, 3, MPI_INTEGER, wide(1, :), 3, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  CALL once(MPI_ERR_COUNT, 'MPI_Allgather')
  CALL MPI_Alltoall(wide(1, :), 3, MPI_INTEGER, got, 3, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  CALL once(MPI_ERR_COUNT, 'MPI_Alltoall')
  CALL expect(ALL(wide == -1), 'memory of collective calls that have failed')

  ! Arguments that the call itself refuses, once.
  CALL MPI_Type_contiguous(2, MPI_INTEGER, freed)
  CALL MPI_Isend(line(1:9:2), 1, freed, 0, 1, MPI_COMM_SELF, request, ierror)
  CALL once(MPI_ERR_TYPE, 'a datatype that is not committed')
  spread = freed
  CALL MPI_Type_free(freed)
  CALL MPI_Isend(line(1:9:2), 1, spread, 0, 1, MPI_COMM_SELF, request, ierror)
  CALL once(MPI_ERR_TYPE, 'a datatype that is freed')
  CALL MPI_Bcast(line(1:9:2), 1, spread, 0, MPI_COMM_SELF, ierror)
  CALL once(MPI_ERR_TYPE, 'a datatype that is freed, of a collective call')
  CALL MPI_Send(line(1:9:2), 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_SELF, ierror)
  CALL once(MPI_ERR_TYPE, 'MPI_DATATYPE_NULL')
  CALL MPI_Send(line(1:9:2), -1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierror)
  CALL once(MPI_ERR_COUNT, 'a negative count')
  CALL MPI_Send(line(1:9:2), 9, MPI_INTEGER, 0, 1, MPI_COMM_NULL, ierror)
  CALL expect(ierror /= MPI_SUCCESS .AND. calls == 1, 'a communicator that does not exist')
  calls = 0

  ! The codes are the library's: the program's next class follows its last one.
  CALL MPI_Add_error_class(next_class)
  CALL expect(next_class == class + 1, 'classes of the program')

  CALL collective_writes
  CALL MPI_Errhandler_free(handler)
  CALL finish

CONTAINS

  SUBROUTINE count_call(comm, error_code)
    TYPE(MPI_Comm) :: comm
    INTEGER :: error_code
    CALL expect(comm /= MPI_COMM_NULL .AND. error_code /= MPI_SUCCESS, 'the arguments of the handler')
    calls = calls + 1
  END SUBROUTINE count_call

  SUBROUTINE once(wanted, what)
    INTEGER, INTENT(IN) :: wanted
    CHARACTER(LEN=*), INTENT(IN) :: what
    CALL expect(is_of_class(ierror, wanted), what // ': the class')
    CALL expect(calls == 1, what // ': calls of the handler')
    calls = 0
  END SUBROUTINE once

  ! Memory that the call needs as it is.
  SUBROUTINE MPI_Win_create_dynamic_of_section
    TYPE(MPI_Win) :: win
    CALL MPI_Win_create(line(1:40:3), 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, ierror)
    CALL once(MPI_ERR_BUFFER, 'MPI_Win_create')
    CALL MPI_Buffer_attach(line(1:40:3), 16, ierror)
    CALL once(MPI_ERR_BUFFER, 'MPI_Buffer_attach')
  END SUBROUTINE MPI_Win_create_dynamic_of_section

  ! Collective calls define what the standard says, and nothing else: the bounds of a section that is not significant, or
  ! is larger than the data, make no difference.
  SUBROUTINE collective_writes
    INTEGER :: alone
    CALL MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    got = -7
    CALL MPI_Reduce(line(1:20:4), got(1:20:4), 5, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    IF (rank == 0) THEN
      CALL expect(ALL(got(1:20:4) == ranks * line(1:20:4)), 'MPI_Reduce')
    ELSE
      CALL expect(ALL(got == -7), 'MPI_Reduce at others')
    END IF
    ! A section without room, where it is not significant.
    got = -7
    IF (rank == 0) THEN
      CALL MPI_Gather(line(1:4:3), 2, MPI_INTEGER, wide(1, :), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
      CALL expect(ALL(wide(1, 1::2) == 1) .AND. ALL(wide(1, 2::2) == 4) .AND. ALL(wide(2, :) == -1), 'MPI_Gather')
    ELSE
      CALL MPI_Gather(line(1:4:3), 2, MPI_INTEGER, got(1:4:3), 2000, MPI_INTEGER, 0, MPI_COMM_WORLD)
      CALL expect(ALL(got == -7), 'MPI_Gather at others')
    END IF
    ! Every second element, by a datatype: those between stay.
    CALL MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND, spread)
    CALL MPI_Type_commit(spread)
    got = -7
    IF (rank == 0) got(1:40:3) = line(1:14)
    CALL MPI_Bcast(got(1:40:3), 7, spread, 0, MPI_COMM_WORLD)
    CALL expect(ALL(got(1:40:6) == line(1:14:2)), 'MPI_Bcast with gaps')
    IF (rank /= 0) CALL expect(ALL(got(4:40:6) == -7) .AND. ALL(got(2:40:3) == -7), 'elements that it does not define')
    CALL MPI_Type_free(spread)
    ! A call writes while the program uses other elements of the section.
    alone = 0
    CALL MPI_Scatter(line, 1, MPI_INTEGER, got(1:40:3), 1, MPI_INTEGER, 0, MPI_COMM_SELF)
    CALL MPI_Allreduce(MPI_IN_PLACE, alone, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CALL expect(got(1) == 1 .AND. alone == 0, 'MPI_Scatter')
  END SUBROUTINE collective_writes
END PROGRAM section_errors
