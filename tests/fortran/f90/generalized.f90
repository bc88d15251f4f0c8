! Generalized requests and data representations: procedures that functions of C call.
MODULE procedures
  USE mpi
  IMPLICIT NONE
  INTEGER :: queries = 0, frees = 0, cancels = 0
  INTEGER(KIND=MPI_ADDRESS_KIND) :: state = 0
  LOGICAL :: was_complete = .TRUE.
CONTAINS
  SUBROUTINE query(extra_state, status, ierr)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    INTEGER :: status(MPI_STATUS_SIZE), ierr
    queries = queries + 1
    state = extra_state
    CALL MPI_STATUS_SET_ELEMENTS(status, MPI_INTEGER, 7, ierr)
    CALL MPI_STATUS_SET_CANCELLED(status, .FALSE., ierr)
    status(MPI_SOURCE) = MPI_UNDEFINED
    status(MPI_TAG) = 99
    ierr = MPI_SUCCESS
  END SUBROUTINE query

  SUBROUTINE release(extra_state, ierr)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    INTEGER :: ierr
    frees = frees + 1
    state = state + extra_state
    ierr = MPI_SUCCESS
  END SUBROUTINE release

  SUBROUTINE cancel(extra_state, complete, ierr)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    LOGICAL :: complete
    INTEGER :: ierr
    cancels = cancels + 1
    was_complete = complete
    ierr = MPI_SUCCESS
  END SUBROUTINE cancel

  SUBROUTINE extent(datatype, bytes, extra_state, ierr)
    INTEGER :: datatype, ierr
    INTEGER(KIND=MPI_ADDRESS_KIND) :: bytes, extra_state
    INTEGER :: size
    CALL MPI_TYPE_SIZE(datatype, size, ierr)
    bytes = size
    state = extra_state
    ierr = MPI_SUCCESS
  END SUBROUTINE extent

  ! The representation has all bits of an integer inverted.
  SUBROUTINE read_integers(userbuf, datatype, count, filebuf, position, extra_state, ierr)
    INTEGER :: userbuf(*), filebuf(*), datatype, count, ierr
    INTEGER(KIND=MPI_OFFSET_KIND) :: position
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    INTEGER :: i
    DO i = 1, count
      userbuf(position + i) = NOT(filebuf(i))
    END DO
    ierr = MERGE(MPI_SUCCESS, MPI_ERR_OTHER, extra_state == 31 .AND. datatype == MPI_INTEGER)
  END SUBROUTINE read_integers

  SUBROUTINE write_integers(userbuf, datatype, count, filebuf, position, extra_state, ierr)
    INTEGER :: userbuf(*), filebuf(*), datatype, count, ierr
    INTEGER(KIND=MPI_OFFSET_KIND) :: position
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    INTEGER :: i
    DO i = 1, count
      filebuf(i) = NOT(userbuf(position + i))
    END DO
    ierr = MERGE(MPI_SUCCESS, MPI_ERR_OTHER, extra_state == 31 .AND. datatype == MPI_INTEGER)
  END SUBROUTINE write_integers
END MODULE procedures

PROGRAM generalized
  USE checks
  USE procedures
  IMPLICIT NONE
  INTEGER :: request, status(MPI_STATUS_SIZE), count, file, out(5), in(5), i, length
  INTEGER(KIND=MPI_ADDRESS_KIND) :: extra
  INTEGER(KIND=MPI_OFFSET_KIND) :: start
  CHARACTER(LEN=MPI_MAX_DATAREP_STRING) :: datarep
  CHARACTER(LEN=200) :: folder
  CHARACTER(LEN=12) :: number
  LOGICAL :: flag

  CALL begin
  extra = 1000
  CALL MPI_GREQUEST_START(query, release, cancel, extra, request, ierror)
  CALL MPI_TEST(request, flag, status, ierror)
  CALL expect(.NOT. flag .AND. queries == 0, 'a request that is not complete')
  CALL MPI_CANCEL(request, ierror)
  CALL expect(cancels == 1 .AND. .NOT. was_complete, 'MPI_CANCEL')
  CALL MPI_GREQUEST_COMPLETE(request, ierror)
  CALL MPI_WAIT(request, status, ierror)
  CALL expect(queries == 1 .AND. frees == 1 .AND. state == 2000 .AND. request == MPI_REQUEST_NULL, 'MPI_WAIT')
  CALL MPI_GET_ELEMENTS(status, MPI_INTEGER, count, ierror)
  CALL expect(status(MPI_TAG) == 99 .AND. count == 7, 'the status')
  CALL MPI_TEST_CANCELLED(status, flag, ierror)
  CALL expect(.NOT. flag, 'MPI_TEST_CANCELLED')

  extra = 31
  CALL MPI_REGISTER_DATAREP('inverted', read_integers, write_integers, extent, extra, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_REGISTER_DATAREP')
  CALL GET_ENVIRONMENT_VARIABLE('TMPDIR', folder, length)
  IF (length == 0) folder = '.'
  WRITE (number, '(I0)') rank
  folder = TRIM(folder) // '/fortran_generalized_' // TRIM(number)
  CALL MPI_FILE_OPEN(MPI_COMM_SELF, folder, IOR(MPI_MODE_CREATE, IOR(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), &
    MPI_INFO_NULL, file, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_FILE_OPEN')
  start = 0
  CALL MPI_FILE_SET_VIEW(file, start, MPI_INTEGER, MPI_INTEGER, 'inverted', MPI_INFO_NULL, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_FILE_SET_VIEW')
  CALL MPI_FILE_GET_VIEW(file, start, i, count, datarep, ierror)
  CALL expect(datarep == 'inverted' .AND. i == MPI_INTEGER .AND. start == 0, 'MPI_FILE_GET_VIEW')
  out = (/ (i * 11, i = 1, 5) /)
  CALL MPI_FILE_WRITE_AT(file, start, out, 5, MPI_INTEGER, status, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_FILE_WRITE_AT')
  in = 0
  CALL MPI_FILE_READ_AT(file, start, in, 5, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  CALL expect(ALL(in == out), 'what was written is read')
  CALL MPI_FILE_SET_VIEW(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
  CALL MPI_FILE_READ_AT(file, start, in, 5, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  CALL expect(ALL(in == NOT(out)), 'the file has the representation of the program')
  CALL MPI_FILE_CLOSE(file, ierror)

  ! A representation that needs no conversion.
  CALL MPI_REGISTER_DATAREP('as it is', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, extra, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_CONVERSION_FN_NULL')
  CALL finish
END PROGRAM generalized
