! Objects that C and Fortran share: attributes, callbacks, datatypes, requests and statuses (tools/interop.c).
MODULE in_fortran
  USE mpi
  IMPLICIT NONE
  INTEGER :: object = 0, error = 0, datatype_seen = 0
CONTAINS
  SUBROUTINE handler(comm, code)
    INTEGER :: comm, code
    object = comm
    error = code
  END SUBROUTINE handler

  SUBROUTINE add(invec, inoutvec, length, datatype)
    INTEGER :: length, datatype, invec(length), inoutvec(length)
    datatype_seen = datatype
    inoutvec = invec + inoutvec
  END SUBROUTINE add
END MODULE in_fortran

PROGRAM interop
  USE checks
  USE in_fortran
  IMPLICIT NONE
  EXTERNAL :: c_reads_attribute, c_reads_integer, c_sets_attribute, c_makes_key, c_has_seen, c_calls_handler, c_reduces
  EXTERNAL :: c_receives, c_sends
  INTEGER :: comm, other, keyval, old_key, number, errhandler, op, in(3), out(3), type, status(MPI_STATUS_SIZE)
  INTEGER :: request, buffer(4), copies, deletes, count
  INTEGER(KIND=MPI_ADDRESS_KIND) :: value, extra, address
  LOGICAL :: flag

  CALL begin
  CALL MPI_COMM_DUP(MPI_COMM_SELF, comm, ierror)
  extra = 0
  CALL MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, ierror)
  value = 2_MPI_ADDRESS_KIND**50 + 1
  CALL MPI_COMM_SET_ATTR(comm, keyval, value, ierror)
  CALL c_reads_attribute(comm, keyval, address, flag)
  CALL expect(flag .AND. address == value, 'C gets the address of a value of Fortran')
  ! The duplicate has memory of its own.
  CALL MPI_COMM_DUP(comm, other, ierror)
  CALL MPI_COMM_DELETE_ATTR(comm, keyval, ierror)
  CALL c_reads_attribute(other, keyval, address, flag)
  CALL expect(flag .AND. address == value, 'a copy of a value of Fortran')
  CALL MPI_COMM_FREE(other, ierror)
  CALL c_sets_attribute(comm, keyval, address)
  CALL MPI_COMM_GET_ATTR(comm, keyval, value, flag, ierror)
  CALL expect(flag .AND. value == address, 'Fortran gets the address that C has set')
  CALL MPI_COMM_DELETE_ATTR(comm, keyval, ierror)
  CALL MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, old_key, 0, ierror)
  CALL MPI_ATTR_PUT(comm, old_key, -3, ierror)
  CALL c_reads_integer(comm, old_key, number)
  CALL expect(number == -3, 'C gets the address of a default integer')
  CALL MPI_ATTR_DELETE(comm, old_key, ierror)
  ! An older value that does not fit loses its high part.
  value = 2_MPI_ADDRESS_KIND**40 + 6
  CALL MPI_COMM_SET_ATTR(comm, keyval, value, ierror)
  CALL MPI_ATTR_GET(comm, keyval, number, flag, ierror)
  CALL expect(flag .AND. number == 6, 'MPI_ATTR_GET of a wide value')
  CALL MPI_COMM_DELETE_ATTR(comm, keyval, ierror)

  ! Callbacks in C for a value of Fortran.
  CALL c_makes_key(keyval)
  value = 4711
  CALL MPI_COMM_SET_ATTR(comm, keyval, value, ierror)
  CALL MPI_COMM_DUP(comm, other, ierror)
  CALL c_has_seen(copies, deletes, value)
  CALL expect(copies == 1 .AND. deletes == 0 .AND. value == 4711, 'a copy callback in C')
  CALL MPI_COMM_DELETE_ATTR(comm, keyval, ierror)
  CALL c_has_seen(copies, deletes, value)
  CALL expect(deletes == 1, 'a delete callback in C')
  CALL MPI_COMM_DELETE_ATTR(other, keyval, ierror)
  CALL MPI_COMM_FREE(other, ierror)

  CALL MPI_COMM_CREATE_ERRHANDLER(handler, errhandler, ierror)
  CALL MPI_COMM_SET_ERRHANDLER(comm, errhandler, ierror)
  CALL c_calls_handler(comm, MPI_ERR_BUFFER)
  CALL expect(object == comm .AND. error == MPI_ERR_BUFFER, 'a call from C')
  CALL MPI_ERRHANDLER_FREE(errhandler, ierror)
  CALL MPI_OP_CREATE(add, .TRUE., op, ierror)
  in = (/ 1, 2, 3 /)
  out = 10
  CALL c_reduces(op, in, out, 3)
  CALL expect(ALL(out == (/ 11, 12, 13 /)) .AND. datatype_seen == MPI_INTEGER, 'a reduction from C')
  CALL MPI_OP_FREE(op, ierror)

  CALL MPI_TYPE_VECTOR(2, 1, 2, MPI_INTEGER, type, ierror)
  CALL MPI_TYPE_COMMIT(type, ierror)
  buffer = 0
  CALL MPI_ISEND((/ 5, 6 /), 2, MPI_INTEGER, 0, 9, comm, request, ierror)
  CALL c_receives(buffer, type, comm, status)
  CALL MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
  CALL MPI_GET_COUNT(status, MPI_INTEGER, count, ierror)
  CALL expect(ALL(buffer == (/ 5, 0, 6, 0 /)) .AND. count == 2 .AND. status(MPI_TAG) == 9, 'a message to C')
  CALL MPI_TYPE_FREE(type, ierror)
  CALL c_sends(in, request)
  CALL MPI_RECV(buffer, 1, MPI_INTEGER, 0, 9, MPI_COMM_SELF, status, ierror)
  CALL MPI_WAIT(request, status, ierror)
  CALL expect(request == MPI_REQUEST_NULL .AND. buffer(1) == 1, 'a request of C')
  CALL MPI_COMM_FREE(comm, ierror)
  CALL finish
END PROGRAM interop
