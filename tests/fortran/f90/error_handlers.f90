! Error handlers in Fortran get the integer of the object, whatever kind of object it is.
MODULE handlers
  USE mpi
  IMPLICIT NONE
  INTEGER :: object = 0, error = 0, calls = 0
CONTAINS
  SUBROUTINE remember(handle, code)
    INTEGER :: handle, code
    object = handle
    error = code
    calls = calls + 1
  END SUBROUTINE remember
END MODULE handlers

PROGRAM error_handlers
  USE checks
  USE handlers
  IMPLICIT NONE
  INTEGER :: comm, errhandler, same, class, win, file, session, kept(100), i
  INTEGER(KIND=MPI_ADDRESS_KIND) :: bytes
  INTEGER :: memory(4)

  CALL begin
  CALL MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierror)
  CALL MPI_COMM_CREATE_ERRHANDLER(remember, errhandler, ierror)
  CALL MPI_COMM_SET_ERRHANDLER(comm, errhandler, ierror)
  CALL MPI_COMM_GET_ERRHANDLER(comm, same, ierror)
  CALL expect(same == errhandler, 'MPI_COMM_GET_ERRHANDLER')
  CALL MPI_ERRHANDLER_FREE(same, ierror)
  CALL MPI_ERRHANDLER_FREE(errhandler, ierror)
  CALL expect(errhandler == MPI_ERRHANDLER_NULL, 'MPI_ERRHANDLER_FREE')
  CALL MPI_SEND(memory, 1, MPI_INTEGER, ranks, 0, comm, ierror)
  CALL MPI_ERROR_CLASS(ierror, class, ierror)
  CALL expect(class == MPI_ERR_RANK .AND. calls == 1 .AND. object == comm .AND. error /= 0, 'a communicator')
  CALL MPI_COMM_CALL_ERRHANDLER(comm, MPI_ERR_OTHER, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. error == MPI_ERR_OTHER .AND. calls == 2, 'MPI_COMM_CALL_ERRHANDLER')
  ! A duplicate has the handler and its own handle.
  CALL MPI_COMM_DUP(comm, same, ierror)
  CALL MPI_COMM_CALL_ERRHANDLER(same, MPI_ERR_ARG, ierror)
  CALL expect(object == same .AND. object /= comm .AND. error == MPI_ERR_ARG, 'a duplicate')
  CALL MPI_COMM_FREE(same, ierror)
  CALL MPI_COMM_FREE(comm, ierror)

  ! The world: the handle that Fortran knows is the constant.
  CALL MPI_COMM_CREATE_ERRHANDLER(remember, errhandler, ierror)
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, errhandler, ierror)
  CALL MPI_COMM_CALL_ERRHANDLER(MPI_COMM_WORLD, MPI_ERR_TAG, ierror)
  CALL expect(object == MPI_COMM_WORLD .AND. error == MPI_ERR_TAG, 'MPI_COMM_WORLD')
  ! An integer that is no handle is reported, not taken for the null handle.
  calls = 0
  CALL MPI_COMM_SIZE(123456789, i, ierror)
  CALL MPI_ERROR_CLASS(ierror, class, ierror)
  CALL expect(class == MPI_ERR_COMM .AND. calls == 1, 'an integer that is no communicator')
  CALL MPI_WAIT(-17, MPI_STATUS_IGNORE, ierror)
  CALL MPI_ERROR_CLASS(ierror, class, ierror)
  CALL expect(class == MPI_ERR_REQUEST .AND. calls == 2, 'an integer that is no request')
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)
  CALL MPI_ERRHANDLER_FREE(errhandler, ierror)

  ! Any number of handlers.
  DO i = 1, 100
    CALL MPI_COMM_CREATE_ERRHANDLER(remember, kept(i), ierror)
  END DO
  DO i = 1, 100
    CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, kept(i), ierror)
    CALL MPI_COMM_CALL_ERRHANDLER(MPI_COMM_SELF, MPI_ERR_OTHER, ierror)
    CALL expect(object == MPI_COMM_SELF, 'one of many handlers')
    CALL MPI_ERRHANDLER_FREE(kept(i), ierror)
  END DO
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierror)

  bytes = 16
  CALL MPI_WIN_CREATE(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  CALL MPI_WIN_CREATE_ERRHANDLER(remember, errhandler, ierror)
  CALL MPI_WIN_SET_ERRHANDLER(win, errhandler, ierror)
  CALL MPI_WIN_CALL_ERRHANDLER(win, MPI_ERR_DISP, ierror)
  CALL expect(object == win .AND. error == MPI_ERR_DISP, 'a window')
  CALL MPI_WIN_GET_ERRHANDLER(win, same, ierror)
  CALL expect(same == errhandler, 'MPI_WIN_GET_ERRHANDLER')
  CALL MPI_ERRHANDLER_FREE(same, ierror)
  CALL MPI_ERRHANDLER_FREE(errhandler, ierror)
  CALL MPI_WIN_FREE(win, ierror)

  CALL MPI_FILE_CREATE_ERRHANDLER(remember, errhandler, ierror)
  CALL MPI_FILE_SET_ERRHANDLER(MPI_FILE_NULL, errhandler, ierror)
  CALL MPI_FILE_OPEN(MPI_COMM_SELF, '/no/such/file', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  CALL MPI_ERROR_CLASS(ierror, class, ierror)
  CALL expect(class == MPI_ERR_NO_SUCH_FILE .AND. object == MPI_FILE_NULL, 'a file')
  CALL MPI_FILE_GET_ERRHANDLER(MPI_FILE_NULL, same, ierror)
  CALL expect(same == errhandler, 'MPI_FILE_GET_ERRHANDLER')
  CALL MPI_FILE_CALL_ERRHANDLER(MPI_FILE_NULL, MPI_ERR_IO, ierror)
  CALL expect(error == MPI_ERR_IO, 'MPI_FILE_CALL_ERRHANDLER')
  CALL MPI_FILE_SET_ERRHANDLER(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierror)

  CALL MPI_SESSION_CREATE_ERRHANDLER(remember, errhandler, ierror)
  CALL MPI_SESSION_INIT(MPI_INFO_NULL, errhandler, session, ierror)
  CALL MPI_SESSION_CALL_ERRHANDLER(session, MPI_ERR_SESSION, ierror)
  CALL expect(object == session .AND. error == MPI_ERR_SESSION, 'a session')
  CALL MPI_SESSION_GET_ERRHANDLER(session, same, ierror)
  CALL expect(same == errhandler, 'MPI_SESSION_GET_ERRHANDLER')
  CALL MPI_SESSION_SET_ERRHANDLER(session, MPI_ERRORS_RETURN, ierror)
  CALL MPI_SESSION_FINALIZE(session, ierror)
  CALL finish
END PROGRAM error_handlers
