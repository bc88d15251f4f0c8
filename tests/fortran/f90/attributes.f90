! Attributes with integers of address size, their callbacks, and the predefined ones.
MODULE callbacks
  USE mpi
  IMPLICIT NONE
  INTEGER :: copies = 0, deletes = 0, object = 0, key = 0
  INTEGER(KIND=MPI_ADDRESS_KIND) :: state = 0, last = 0
CONTAINS
  SUBROUTINE copy(old, keyval, extra_state, value, new_value, flag, ierr)
    INTEGER :: old, keyval, ierr
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state, value, new_value
    LOGICAL :: flag
    copies = copies + 1
    object = old
    key = keyval
    state = extra_state
    new_value = value + 1
    flag = value > 0
    ierr = MPI_SUCCESS
  END SUBROUTINE copy

  SUBROUTINE delete(old, keyval, value, extra_state, ierr)
    INTEGER :: old, keyval, ierr
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state, value
    deletes = deletes + 1
    object = old
    last = value
    state = extra_state
    ierr = MPI_SUCCESS
  END SUBROUTINE delete

  SUBROUTINE refuse(old, keyval, value, extra_state, ierr)
    INTEGER :: old, keyval, ierr
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state, value
    ierr = MPI_ERR_OTHER
  END SUBROUTINE refuse
END MODULE callbacks

PROGRAM attributes
  USE checks
  USE callbacks
  IMPLICIT NONE
  INTEGER :: comm, other, keyval, type, type_dup, win, memory(4), was, freed
  INTEGER(KIND=MPI_ADDRESS_KIND) :: value, extra, bytes, address
  LOGICAL :: flag

  CALL begin
  CALL MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierror)
  extra = 2_MPI_ADDRESS_KIND**40 + 5
  CALL MPI_COMM_CREATE_KEYVAL(copy, delete, keyval, extra, ierror)
  CALL MPI_COMM_GET_ATTR(comm, keyval, value, flag, ierror)
  CALL expect(.NOT. flag, 'no value')
  value = 2_MPI_ADDRESS_KIND**41
  CALL MPI_COMM_SET_ATTR(comm, keyval, value, ierror)
  value = 0
  CALL MPI_COMM_GET_ATTR(comm, keyval, value, flag, ierror)
  CALL expect(flag .AND. value == 2_MPI_ADDRESS_KIND**41, 'MPI_COMM_GET_ATTR')
  CALL MPI_COMM_DUP(comm, other, ierror)
  CALL expect(copies == 1 .AND. object == comm .AND. key == keyval .AND. state == extra, 'arguments of a copy')
  CALL MPI_COMM_GET_ATTR(other, keyval, value, flag, ierror)
  CALL expect(flag .AND. value == 2_MPI_ADDRESS_KIND**41 + 1, 'the value of a copy')
  was = other
  CALL MPI_COMM_FREE(other, ierror)
  CALL expect(deletes == 1 .AND. object == was .AND. last == 2_MPI_ADDRESS_KIND**41 + 1, 'MPI_COMM_FREE deletes')
  value = -1
  CALL MPI_COMM_SET_ATTR(comm, keyval, value, ierror)
  CALL expect(deletes == 2 .AND. last == 2_MPI_ADDRESS_KIND**41, 'a new value deletes the old')
  CALL MPI_COMM_DUP(comm, other, ierror)
  CALL MPI_COMM_GET_ATTR(other, keyval, value, flag, ierror)
  CALL expect(.NOT. flag .AND. copies == 2, 'a callback that does not copy')
  CALL MPI_COMM_FREE(other, ierror)
  CALL MPI_COMM_DELETE_ATTR(comm, keyval, ierror)
  CALL expect(deletes == 3 .AND. last == -1, 'MPI_COMM_DELETE_ATTR')
  freed = keyval
  CALL MPI_COMM_FREE_KEYVAL(keyval, ierror)
  CALL expect(keyval == MPI_KEYVAL_INVALID, 'MPI_COMM_FREE_KEYVAL')

  ! A callback that fails stops the call.
  CALL MPI_COMM_SET_ERRHANDLER(comm, MPI_ERRORS_RETURN, ierror)
  CALL MPI_COMM_CREATE_KEYVAL(MPI_COMM_NULL_COPY_FN, refuse, keyval, extra, ierror)
  CALL MPI_COMM_SET_ATTR(comm, keyval, value, ierror)
  CALL MPI_COMM_DELETE_ATTR(comm, keyval, ierror)
  CALL expect(ierror == MPI_ERR_OTHER, 'a callback that fails')
  CALL MPI_COMM_DUP(comm, other, ierror)
  CALL MPI_COMM_GET_ATTR(other, keyval, value, flag, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. .NOT. flag, 'MPI_COMM_NULL_COPY_FN')
  CALL MPI_COMM_FREE(other, ierror)

  ! The predefined callbacks.
  CALL MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, ierror)
  value = -12345678901_MPI_ADDRESS_KIND
  CALL MPI_COMM_SET_ATTR(MPI_COMM_SELF, keyval, value, ierror)
  CALL MPI_COMM_DUP(MPI_COMM_SELF, other, ierror)
  value = 0
  CALL MPI_COMM_GET_ATTR(other, keyval, value, flag, ierror)
  CALL expect(flag .AND. value == -12345678901_MPI_ADDRESS_KIND, 'MPI_COMM_DUP_FN')
  CALL MPI_COMM_FREE(other, ierror)
  CALL MPI_COMM_DELETE_ATTR(MPI_COMM_SELF, keyval, ierror)

  ! Predefined attributes are values, not addresses.
  CALL MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  CALL expect(flag .AND. value >= 32767, 'MPI_TAG_UB')
  CALL MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_HOST, value, flag, ierror)
  CALL expect(flag .AND. value == MPI_PROC_NULL, 'MPI_HOST')
  CALL MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierror)
  CALL expect(flag .AND. (value == 0 .OR. value == 1), 'MPI_WTIME_IS_GLOBAL')
  CALL MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag, ierror)
  CALL expect(flag .AND. value == ranks, 'MPI_UNIVERSE_SIZE')
  CALL MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag, ierror)
  CALL expect(flag .AND. value >= MPI_ERR_LASTCODE, 'MPI_LASTUSEDCODE')

  CALL MPI_TYPE_CONTIGUOUS(2, MPI_INTEGER, type, ierror)
  copies = 0
  deletes = 0
  CALL MPI_TYPE_CREATE_KEYVAL(copy, delete, keyval, extra, ierror)
  value = 9
  CALL MPI_TYPE_SET_ATTR(type, keyval, value, ierror)
  CALL MPI_TYPE_DUP(type, type_dup, ierror)
  CALL expect(copies == 1 .AND. object == type, 'a copy of a datatype')
  CALL MPI_TYPE_GET_ATTR(type_dup, keyval, value, flag, ierror)
  CALL expect(flag .AND. value == 10, 'MPI_TYPE_GET_ATTR')
  CALL MPI_TYPE_DELETE_ATTR(type, keyval, ierror)
  CALL expect(deletes == 1 .AND. object == type .AND. last == 9, 'MPI_TYPE_DELETE_ATTR')
  CALL MPI_TYPE_FREE(type_dup, ierror)
  CALL MPI_TYPE_FREE(type, ierror)
  CALL expect(deletes == 2, 'MPI_TYPE_FREE deletes')
  CALL MPI_TYPE_FREE_KEYVAL(keyval, ierror)

  bytes = 16
  CALL MPI_WIN_CREATE(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  CALL MPI_GET_ADDRESS(memory, address, ierror)
  CALL MPI_WIN_GET_ATTR(win, MPI_WIN_BASE, value, flag, ierror)
  CALL expect(flag .AND. value == address, 'MPI_WIN_BASE')
  CALL MPI_WIN_GET_ATTR(win, MPI_WIN_SIZE, value, flag, ierror)
  CALL expect(flag .AND. value == 16, 'MPI_WIN_SIZE')
  CALL MPI_WIN_GET_ATTR(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
  CALL expect(flag .AND. value == 4, 'MPI_WIN_DISP_UNIT')
  CALL MPI_WIN_GET_ATTR(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
  CALL expect(flag .AND. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
  CALL MPI_WIN_CREATE_KEYVAL(MPI_WIN_NULL_COPY_FN, delete, keyval, extra, ierror)
  value = 77
  CALL MPI_WIN_SET_ATTR(win, keyval, value, ierror)
  value = 0
  CALL MPI_WIN_GET_ATTR(win, keyval, value, flag, ierror)
  CALL expect(flag .AND. value == 77, 'MPI_WIN_GET_ATTR')
  was = win
  CALL MPI_WIN_DELETE_ATTR(win, keyval, ierror)
  CALL expect(object == was .AND. last == 77, 'MPI_WIN_DELETE_ATTR')
  CALL MPI_WIN_FREE_KEYVAL(keyval, ierror)
  CALL MPI_WIN_FREE(win, ierror)
  CALL finish
END PROGRAM attributes
