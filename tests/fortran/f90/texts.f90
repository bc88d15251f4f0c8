! Texts: blanks at the end are no part of what goes in, and fill what comes out.
PROGRAM texts
  USE checks
  IMPLICIT NONE
  CHARACTER(LEN=MPI_MAX_OBJECT_NAME) :: name
  CHARACTER(LEN=8) :: short
  CHARACTER(LEN=40) :: value
  CHARACTER(LEN=MPI_MAX_ERROR_STRING) :: message
  CHARACTER(LEN=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  CHARACTER(LEN=MPI_MAX_PROCESSOR_NAME) :: processor
  CHARACTER(LEN=300) :: long
  INTEGER :: info, length, comm, code, number
  INTEGER(KIND=MPI_ADDRESS_KIND) :: size, place
  LOGICAL :: flag

  CALL begin
  CALL MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierror)
  CALL MPI_COMM_SET_NAME(comm, '  a name   ', ierror)
  CALL MPI_COMM_GET_NAME(comm, name, length, ierror)
  CALL expect(name == '  a name' .AND. length == 8, 'a name keeps its first blanks and loses its last')
  CALL MPI_COMM_GET_NAME(comm, short, length, ierror)
  CALL expect(short == '  a name', 'a short variable')
  CALL MPI_COMM_SET_NAME(comm, '', ierror)
  name = REPEAT('x', LEN(name))
  CALL MPI_COMM_GET_NAME(comm, name, length, ierror)
  CALL expect(name == ' ' .AND. length == 0, 'no name fills the variable with blanks')
  CALL MPI_COMM_FREE(comm, ierror)

  CALL MPI_INFO_CREATE(info, ierror)
  CALL MPI_INFO_SET(info, '  a key  ', '  some value ', ierror)
  value = 'unset'
  CALL MPI_INFO_GET(info, 'a key', 40, value, flag, ierror)
  CALL expect(flag .AND. value == 'some value', 'keys and values have no blanks at their ends')
  value = 'unset'
  CALL MPI_INFO_GET(info, 'no key', 40, value, flag, ierror)
  CALL expect(.NOT. flag .AND. value == 'unset', 'no value leaves the variable as it is')
  CALL MPI_INFO_GET_VALUELEN(info, 'a key', length, flag, ierror)
  CALL expect(flag .AND. length == 10, 'the length of a value')
  length = 0
  value = 'unset'
  CALL MPI_INFO_GET_STRING(info, 'a key', length, value, flag, ierror)
  CALL expect(flag .AND. length == 10 .AND. value == 'unset', 'the length alone')
  length = 4
  CALL MPI_INFO_GET_STRING(info, 'a key', length, value, flag, ierror)
  CALL expect(flag .AND. length == 10 .AND. value == 'some', 'a value that is cut')
  length = 40
  CALL MPI_INFO_GET_STRING(info, 'a key', length, value, flag, ierror)
  CALL expect(flag .AND. length == 10 .AND. value == 'some value', 'a whole value')
  length = HUGE(length)
  value = 'unset'
  CALL MPI_INFO_GET_STRING(info, 'a key', length, value, flag, ierror)
  CALL expect(flag .AND. length == 10 .AND. value == 'some value', 'the largest length')
  value = 'unset'
  CALL MPI_INFO_GET(info, 'a key', HUGE(length), value, flag, ierror)
  CALL expect(flag .AND. value == 'some value', 'the largest length of the older call')
  long = REPEAT('v', 300)
  CALL MPI_INFO_SET(info, 'long', long, ierror)
  long = ' '
  length = 300
  CALL MPI_INFO_GET_STRING(info, 'long', length, long, flag, ierror)
  CALL expect(length == 300 .AND. long == REPEAT('v', 300), 'a value longer than the room on the stack')
  CALL MPI_INFO_GET_NTHKEY(info, 0, value, ierror)
  CALL expect(value == 'a key', 'a key by its number, from 0')
  CALL MPI_INFO_GET_NKEYS(info, number, ierror)
  CALL expect(number == 2, 'the number of keys')
  CALL MPI_INFO_DELETE(info, ' long ', ierror)
  CALL MPI_INFO_GET_NKEYS(info, number, ierror)
  CALL expect(number == 1, 'a deleted key')
  CALL MPI_INFO_FREE(info, ierror)
  CALL expect(info == MPI_INFO_NULL, 'MPI_INFO_FREE')

  ! A text beside buffers of characters.
  place = 0
  CALL MPI_PACK_EXTERNAL_SIZE('external32', 7, MPI_CHARACTER, size, ierror)
  CALL MPI_PACK_EXTERNAL('external32', 'packed!', 7, MPI_CHARACTER, value, size, place, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. place == 7 .AND. value(1:7) == 'packed!', 'MPI_PACK_EXTERNAL')
  place = 0
  short = ' '
  CALL MPI_UNPACK_EXTERNAL('external32  ', value, size, place, short, 7, MPI_CHARACTER, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. short == 'packed!', 'MPI_UNPACK_EXTERNAL')

  CALL MPI_ERROR_STRING(MPI_ERR_TRUNCATE, message, length, ierror)
  CALL expect(length > 0 .AND. message(1:1) /= ' ' .AND. message(length + 1:) == ' ', 'MPI_ERROR_STRING')
  CALL MPI_ADD_ERROR_CLASS(code, ierror)
  CALL MPI_ADD_ERROR_STRING(code, 'my own error   ', ierror)
  CALL MPI_ERROR_STRING(code, message, length, ierror)
  CALL expect(message == 'my own error' .AND. length == 12, 'MPI_ADD_ERROR_STRING')
  CALL MPI_GET_LIBRARY_VERSION(version, length, ierror)
  CALL expect(length > 0 .AND. INDEX(version, 'Ferrum') > 0, 'MPI_GET_LIBRARY_VERSION')
  CALL MPI_GET_PROCESSOR_NAME(processor, length, ierror)
  CALL expect(length > 0 .AND. LEN_TRIM(processor) == length, 'MPI_GET_PROCESSOR_NAME')
  CALL finish
END PROGRAM texts
