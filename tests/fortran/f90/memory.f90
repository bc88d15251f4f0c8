! Memory of the library: addresses as integers and as C pointers, windows, sizes of variables.
PROGRAM memory
  USE checks
  USE, INTRINSIC :: ISO_C_BINDING
  IMPLICIT NONE
  TYPE(C_PTR) :: pointer
  INTEGER(KIND=MPI_ADDRESS_KIND) :: address, bytes, place, sum
  INTEGER :: win, unit, size, right, value, old
  INTEGER, POINTER :: numbers(:)
  REAL(8) :: matrix(3, 4)
  COMPLEX :: z
  CHARACTER(LEN=5) :: text
  LOGICAL :: flag
  INTEGER(2) :: short(7)

  CALL begin
  bytes = 400
  CALL MPI_ALLOC_MEM(bytes, MPI_INFO_NULL, pointer, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. C_ASSOCIATED(pointer), 'MPI_ALLOC_MEM with a pointer')
  CALL C_F_POINTER(pointer, numbers, (/ 100 /))
  numbers = rank
  CALL expect(ALL(numbers == rank), 'memory')
  CALL MPI_FREE_MEM(numbers, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_FREE_MEM')
  address = 0
  CALL MPI_ALLOC_MEM(bytes, MPI_INFO_NULL, address, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. address /= 0, 'MPI_ALLOC_MEM with an integer')
  CALL C_F_POINTER(TRANSFER(address, pointer), numbers, (/ 100 /))
  CALL MPI_FREE_MEM(numbers, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_FREE_MEM of an integer address')

  CALL MPI_WIN_ALLOCATE_SHARED(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, pointer, win, ierror)
  CALL C_F_POINTER(pointer, numbers, (/ 100 /))
  numbers = rank
  CALL MPI_WIN_FENCE(0, win, ierror)
  right = MOD(rank + 1, ranks)
  CALL MPI_WIN_SHARED_QUERY(win, right, bytes, unit, pointer, ierror)
  CALL C_F_POINTER(pointer, numbers, (/ 100 /))
  CALL expect(bytes == 400 .AND. unit == 4 .AND. ALL(numbers == right), 'MPI_WIN_SHARED_QUERY')
  CALL MPI_WIN_FENCE(0, win, ierror)
  CALL MPI_WIN_FREE(win, ierror)
  CALL expect(win == MPI_WIN_NULL, 'MPI_WIN_FREE')

  CALL MPI_WIN_ALLOCATE(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, pointer, win, ierror)
  CALL C_F_POINTER(pointer, numbers, (/ 100 /))
  numbers = 0
  CALL MPI_WIN_FENCE(0, win, ierror)
  place = 2
  value = rank + 1
  CALL MPI_PUT(value, 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierror)
  place = 3
  CALL MPI_ACCUMULATE(value, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, MPI_SUM, win, ierror)
  CALL MPI_WIN_FENCE(0, win, ierror)
  CALL expect(numbers(3) == MOD(rank + ranks - 1, ranks) + 1, 'MPI_PUT')
  IF (rank == 0) CALL expect(numbers(4) == ranks * (ranks + 1) / 2, 'MPI_ACCUMULATE')
  place = 4
  old = -1
  CALL MPI_FETCH_AND_OP(value, old, MPI_INTEGER, right, place, MPI_REPLACE, win, ierror)
  CALL MPI_WIN_FENCE(0, win, ierror)
  CALL expect(old == 0 .AND. numbers(5) == MOD(rank + ranks - 1, ranks) + 1, 'MPI_FETCH_AND_OP')
  CALL MPI_WIN_FREE(win, ierror)

  place = 8
  CALL MPI_GET_ADDRESS(matrix(1, 1), address, ierror)
  sum = MPI_AINT_ADD(address, place)
  CALL MPI_GET_ADDRESS(matrix(2, 1), bytes, ierror)
  CALL expect(sum == bytes .AND. MPI_AINT_DIFF(bytes, address) == 8, 'MPI_AINT_ADD and MPI_AINT_DIFF')
  CALL expect(MPI_WTIME() > 0D0 .AND. MPI_WTICK() > 0D0 .AND. MPI_WTICK() < 1D0, 'MPI_WTIME')

  CALL MPI_SIZEOF(matrix, size, ierror)
  CALL expect(size == 8 .AND. ierror == MPI_SUCCESS, 'MPI_SIZEOF of a matrix')
  CALL MPI_SIZEOF(matrix(1, 1), size, ierror)
  CALL expect(size == 8, 'MPI_SIZEOF of an element')
  CALL MPI_SIZEOF(z, size, ierror)
  CALL expect(size == 8, 'MPI_SIZEOF of a complex')
  CALL MPI_SIZEOF(text, size, ierror)
  CALL expect(size == 5, 'MPI_SIZEOF of a text')
  CALL MPI_SIZEOF(flag, size, ierror)
  CALL expect(size == 4, 'MPI_SIZEOF of a logical')
  CALL PMPI_SIZEOF(short, size, ierror)
  CALL expect(size == 2, 'PMPI_SIZEOF')
  CALL finish
END PROGRAM memory
