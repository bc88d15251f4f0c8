! Procedures of the program: error handlers, attributes, generalized requests, data representations.
MODULE procedures
  USE, INTRINSIC :: ISO_C_BINDING
  USE checks_f08
  IMPLICIT NONE
  INTEGER :: handled = 0, copies = 0, deletions = 0, queried = 0, freed = 0, cancelled = 0, extents = 0, conversions = 0
  TYPE(MPI_Comm) :: seen

CONTAINS

  SUBROUTINE on_comm(comm, error_code)
    TYPE(MPI_Comm) :: comm
    INTEGER :: error_code
    seen = comm
    IF (is_of_class(error_code, MPI_ERR_RANK)) handled = handled + 1
  END SUBROUTINE on_comm

  SUBROUTINE on_file(file, error_code)
    TYPE(MPI_File) :: file
    INTEGER :: error_code
    IF (file == MPI_FILE_NULL .AND. error_code /= MPI_SUCCESS) handled = handled + 1
  END SUBROUTINE on_file

  SUBROUTINE copy(comm, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    TYPE(MPI_Comm) :: comm
    INTEGER :: keyval, ierror
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    LOGICAL :: flag
    CALL expect(comm == MPI_COMM_SELF .AND. keyval /= MPI_KEYVAL_INVALID, 'arguments of a copy')
    attribute_val_out = attribute_val_in + extra_state
    copies = copies + 1
    flag = .TRUE.
    ierror = MPI_SUCCESS
  END SUBROUTINE copy

  SUBROUTINE delete(comm, keyval, attribute_val, extra_state, ierror)
    TYPE(MPI_Comm) :: comm
    INTEGER :: keyval, ierror
    INTEGER(KIND=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    CALL expect(comm /= MPI_COMM_NULL .AND. keyval /= MPI_KEYVAL_INVALID, 'arguments of a deletion')
    IF (MODULO(attribute_val, extra_state) == 7) deletions = deletions + 1
    ierror = MPI_SUCCESS
  END SUBROUTINE delete

  SUBROUTINE query(extra_state, status, ierror)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    TYPE(MPI_Status) :: status
    INTEGER :: ierror
    CALL MPI_Status_set_elements(status, MPI_INTEGER, INT(extra_state), ierror)
    CALL MPI_Status_set_cancelled(status, .FALSE.)
    status%MPI_SOURCE = 3
    status%MPI_TAG = 4
    queried = queried + 1
  END SUBROUTINE query

  SUBROUTINE release(extra_state, ierror)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    INTEGER :: ierror
    freed = freed + INT(extra_state)
    ierror = MPI_SUCCESS
  END SUBROUTINE release

  SUBROUTINE cancel(extra_state, complete, ierror)
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    LOGICAL :: complete
    INTEGER :: ierror
    IF (extra_state == 12 .AND. .NOT. complete) cancelled = cancelled + 1
    ierror = MPI_SUCCESS
  END SUBROUTINE cancel

  SUBROUTINE extent_of(datatype, extent, extra_state, ierror)
    TYPE(MPI_Datatype) :: datatype
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extent, extra_state
    INTEGER :: ierror
    INTEGER :: size
    CALL MPI_Type_size(datatype, size)
    extent = size
    IF (extra_state == 5) extents = extents + 1
    ierror = MPI_SUCCESS
  END SUBROUTINE extent_of

  ! Integers are negative in the file.
  SUBROUTINE convert(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    TYPE(C_PTR), VALUE :: userbuf, filebuf
    TYPE(MPI_Datatype) :: datatype
    INTEGER :: count, ierror
    INTEGER(KIND=MPI_OFFSET_KIND) :: position
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state
    INTEGER, POINTER :: user(:), file(:)
    CALL expect(datatype == MPI_INTEGER .AND. extra_state == 5, 'arguments of a conversion')
    CALL C_F_POINTER(userbuf, user, [INT(position) + count])
    CALL C_F_POINTER(filebuf, file, [count])
    file = -user(position + 1:)
    conversions = conversions + count
    ierror = MPI_SUCCESS
  END SUBROUTINE convert
END MODULE procedures

PROGRAM callbacks
  USE procedures
  IMPLICIT NONE
  TYPE(MPI_Errhandler) :: handler, old
  TYPE(MPI_Comm) :: comm
  TYPE(MPI_File) :: file
  TYPE(MPI_Request) :: request
  TYPE(MPI_Status) :: status
  INTEGER :: keyval, length, numbers(6)
  INTEGER(KIND=MPI_ADDRESS_KIND) :: value
  LOGICAL :: flag

  CALL begin
  CALL MPI_Comm_create_errhandler(on_comm, handler)
  CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
  CALL MPI_Comm_get_errhandler(MPI_COMM_SELF, old)
  CALL expect(old == handler, 'MPI_Comm_get_errhandler')
  CALL MPI_Send(numbers, 1, MPI_INTEGER, 5, 1, MPI_COMM_SELF, ierror)
  CALL expect(handled == 1 .AND. seen == MPI_COMM_SELF .AND. is_of_class(ierror, MPI_ERR_RANK), 'an error handler')
  CALL MPI_Errhandler_free(handler)
  CALL MPI_Errhandler_free(old)
  CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  CALL MPI_File_create_errhandler(on_file, handler)
  CALL MPI_File_set_errhandler(MPI_FILE_NULL, handler)
  CALL MPI_File_open(MPI_COMM_SELF, '/no/such/folder/file', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  CALL expect(handled == 2 .AND. ierror /= MPI_SUCCESS, 'an error handler of files')
  CALL MPI_Errhandler_free(handler)

  CALL MPI_Comm_create_keyval(copy, delete, keyval, 100_MPI_ADDRESS_KIND)
  CALL MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 20000000007_MPI_ADDRESS_KIND)
  CALL MPI_Comm_dup(MPI_COMM_SELF, comm)
  CALL MPI_Comm_get_attr(comm, keyval, value, flag)
  CALL expect(flag .AND. value == 20000000107_MPI_ADDRESS_KIND .AND. copies == 1, 'a copied attribute')
  CALL MPI_Comm_free(comm)
  CALL expect(deletions == 1, 'a deleted attribute')
  CALL MPI_Comm_delete_attr(MPI_COMM_SELF, keyval)
  CALL MPI_Comm_free_keyval(keyval)
  CALL expect(deletions == 2 .AND. keyval == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')
  CALL MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND)
  CALL MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 5_MPI_ADDRESS_KIND)
  CALL MPI_Comm_dup(MPI_COMM_SELF, comm)
  CALL MPI_Comm_get_attr(comm, keyval, value, flag)
  CALL expect(flag .AND. value == 5, 'MPI_COMM_DUP_FN')
  CALL MPI_Comm_free(comm)
  CALL MPI_Comm_delete_attr(MPI_COMM_SELF, keyval)
  CALL MPI_Comm_free_keyval(keyval)
  CALL MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  CALL expect(flag .AND. value >= 32767, 'MPI_TAG_UB')

  CALL MPI_Grequest_start(query, release, cancel, 12_MPI_ADDRESS_KIND, request)
  CALL MPI_Cancel(request)
  CALL MPI_Grequest_complete(request)
  CALL MPI_Wait(request, status)
  CALL MPI_Get_count(status, MPI_INTEGER, length)
  CALL expect(length == 12 .AND. status%MPI_SOURCE == 3 .AND. status%MPI_TAG == 4, &
      'the status of a generalized request')
  CALL expect(queried == 1 .AND. freed == 12 .AND. cancelled == 1, 'procedures of a generalized request')

  CALL MPI_Register_datarep('negative f08', convert, convert, extent_of, 5_MPI_ADDRESS_KIND)
  CALL run_file
  CALL finish

CONTAINS

  SUBROUTINE run_file
    CHARACTER(LEN=400) :: folder
    CHARACTER(LEN=12) :: number
    CALL GET_ENVIRONMENT_VARIABLE('TMPDIR', folder)
    WRITE (number, '(I0)') rank
    CALL MPI_File_open(MPI_COMM_SELF, TRIM(folder) // '/f08_datarep_' // number, &
        IOR(IOR(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), MPI_INFO_NULL, file)
    CALL MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'negative f08', MPI_INFO_NULL)
    CALL MPI_File_write(file, [1, 2, 3], 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    CALL MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    numbers = 0
    CALL MPI_File_read_at(file, 0_MPI_OFFSET_KIND, numbers, 3, MPI_INTEGER, status)
    CALL expect(ALL(numbers(1:3) == [-1, -2, -3]) .AND. conversions == 3 .AND. extents > 0, 'a data representation')
    CALL MPI_File_close(file)
  END SUBROUTINE run_file
END PROGRAM callbacks
