! An exchange of the borders of a part of a grid with four neighbours, from and into sections of both directions, and of
! a plane of a cube that is replaced.
PROGRAM halo
  USE checks_f08
  IMPLICIT NONE
  INTEGER, PARAMETER :: n = 8
  DOUBLE PRECISION, ALLOCATABLE, ASYNCHRONOUS :: grid(:, :), cube(:, :, :)
  TYPE(MPI_Comm) :: cart
  TYPE(MPI_Request) :: requests(8)
  TYPE(MPI_Status) :: statuses(8)
  INTEGER :: dims(2), me, up, down, left, right, i, j
  LOGICAL :: borders

  CALL begin
  dims = 0
  CALL MPI_Dims_create(ranks, 2, dims)
  CALL MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.TRUE., .TRUE.], .FALSE., cart)
  CALL MPI_Comm_rank(cart, me)
  CALL MPI_Cart_shift(cart, 0, 1, up, down)
  CALL MPI_Cart_shift(cart, 1, 1, left, right)
  ALLOCATE (grid(0:n + 1, 0:n + 1), cube(n, n, n))
  grid = -1
  DO j = 1, n
    DO i = 1, n
      grid(i, j) = value_of(me, i, j)
    END DO
  END DO

  CALL MPI_Irecv(grid(0, 1:n), n, MPI_DOUBLE_PRECISION, up, 1, cart, requests(1))
  CALL MPI_Irecv(grid(n + 1, n:1:-1), n, MPI_DOUBLE_PRECISION, down, 2, cart, requests(2))
  CALL MPI_Irecv(grid(1:n, 0), n, MPI_REAL8, left, 3, cart, requests(3))
  CALL MPI_Irecv(grid(n:1:-1, n + 1), n, MPI_REAL8, right, 4, cart, requests(4))
  CALL MPI_Isend(grid(n, 1:n), n, MPI_DOUBLE_PRECISION, down, 1, cart, requests(5))
  CALL MPI_Isend(grid(1, n:1:-1), n, MPI_DOUBLE_PRECISION, up, 2, cart, requests(6))
  CALL MPI_Isend(grid(1:n, n), n, MPI_REAL8, right, 3, cart, requests(7))
  CALL MPI_Isend(grid(n:1:-1, 1), n, MPI_REAL8, left, 4, cart, requests(8))
  CALL MPI_Waitall(8, requests, statuses)
  IF (.NOT. MPI_ASYNC_PROTECTS_NONBLOCKING) CALL MPI_F_sync_reg(grid)
  borders = .TRUE.
  DO i = 1, n
    borders = borders .AND. is(grid(0, i), value_of(up, n, i)) .AND. is(grid(n + 1, i), value_of(down, 1, i))
    borders = borders .AND. is(grid(i, 0), value_of(left, i, n)) .AND. is(grid(i, n + 1), value_of(right, i, 1))
  END DO
  CALL expect(borders, 'the borders')
  CALL expect(ALL(statuses(1:4)%MPI_TAG == [1, 2, 3, 4]), 'the tags')
  CALL expect(ALL(statuses(1:4)%MPI_SOURCE == [up, down, left, right]), 'the sources')
  CALL expect(is(grid(0, 0), -1d0) .AND. is(grid(n + 1, n + 1), -1d0) .AND. is(grid(0, n + 1), -1d0), 'the corners')

  cube = me
  CALL MPI_Sendrecv_replace(cube(3, n:1:-1, 1:n:2), n * n / 2, MPI_DOUBLE_PRECISION, down, 9, up, 9, cart, &
      MPI_STATUS_IGNORE)
  CALL expect(ALL(NINT(cube(3, :, 1:n:2)) == up) .AND. ALL(NINT(cube(3, :, 2:n:2)) == me) .AND. &
      ALL(NINT(cube(4, :, :)) == me), 'a plane')
  CALL MPI_Comm_free(cart)
  CALL finish

CONTAINS

  ELEMENTAL DOUBLE PRECISION FUNCTION value_of(process, row, column)
    INTEGER, INTENT(IN) :: process, row, column
    value_of = 10000 * process + 100 * row + column
  END FUNCTION value_of

  ELEMENTAL LOGICAL FUNCTION is(found, wanted)
    DOUBLE PRECISION, INTENT(IN) :: found, wanted
    is = ABS(found - wanted) < 0.5d0
  END FUNCTION is
END PROGRAM halo
