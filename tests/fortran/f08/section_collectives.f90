! Array sections with gaps in collective operations that do not block, are persistent, or have blocks of several lengths,
! types and places, and among neighbours.
PROGRAM section_collectives
  USE checks_f08
  IMPLICIT NONE
  INTEGER, ALLOCATABLE, ASYNCHRONOUS :: rows(:, :), others(:, :)
  INTEGER, ALLOCATABLE :: counts(:), places(:), expected(:)
  TYPE(MPI_Datatype), ALLOCATABLE :: types(:)
  INTEGER, ASYNCHRONOUS :: line(30), got(30)
  TYPE(MPI_Request) :: request
  TYPE(MPI_Comm) :: ring
  INTEGER :: i, j, pass, after, before

  CALL begin
  after = MODULO(rank + 1, ranks)
  before = MODULO(rank - 1, ranks)
  ALLOCATE (rows(3, 2 * ranks), others(3, 2 * ranks), counts(ranks), places(ranks), expected(2 * ranks), types(ranks))
  line = [(100 * rank + i, i = 1, 30)]

  got = -1
  IF (rank == 0) got(1:30:3) = line(1:10)
  CALL MPI_Ibcast(got(1:30:3), 5, MPI_2INTEGER, 0, MPI_COMM_WORLD, request)
  CALL finished
  CALL expect(ALL(got(1:30:3) == [(i, i = 1, 10)]) .AND. ALL(got(2:30:3) == -1), 'MPI_Ibcast')

  rows = -1
  CALL MPI_Iallgather(line(30:1:-9), 2, MPI_INTEGER, rows(2, :), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
  CALL finished
  expected = [((100 * j + i, i = 30, 21, -9), j = 0, ranks - 1)]
  CALL expect(ALL(rows(2, :) == expected) .AND. ALL(rows(1:3:2, :) == -1), 'MPI_Iallgather')
  others = -1
  CALL MPI_Ialltoall(rows(2, :), 1, MPI_2INTEGER, others(3, :), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
  CALL finished
  CALL expect(ALL(others(3, :) == [(expected(2 * rank + 1:2 * rank + 2), j = 1, ranks)]), 'MPI_Ialltoall')
  CALL expect(ALL(others(1:2, :) == -1), 'rows beside')

  ! A persistent operation uses the sections at each start.
  CALL MPI_Gather_init(line(1:4:3), 2, MPI_INTEGER, rows(1, 2 * ranks:1:-1), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, &
      MPI_INFO_NULL, request)
  DO pass = 1, 2
    line = pass * [(100 * rank + i, i = 1, 30)]
    CALL MPI_Start(request)
    CALL MPI_Wait(request, MPI_STATUS_IGNORE)
    CALL MPI_F_sync_reg(rows)
    IF (rank == 0) THEN
      CALL expect(ALL(rows(1, 2 * ranks:1:-2) == pass * [(100 * j + 1, j = 0, ranks - 1)]), 'MPI_Gather_init')
      CALL expect(ALL(rows(1, 2 * ranks - 1:1:-2) == pass * [(100 * j + 4, j = 0, ranks - 1)]), 'MPI_Gather_init')
    ELSE
      CALL expect(ALL(rows(1, :) == -1), 'MPI_Gather_init at others')
    END IF
  END DO
  CALL MPI_Request_free(request)

  ! Blocks in the opposite order, of one and of two elements.
  line = [(100 * rank + i, i = 1, 30)]
  counts = [(1 + MODULO(j, 2), j = 0, ranks - 1)]
  places = [(2 * (ranks - 1 - j), j = 0, ranks - 1)]
  rows = -1
  CALL MPI_Allgatherv(line(2:30:5), counts(rank + 1), MPI_INTEGER, rows(2, :), counts, places, MPI_INTEGER, &
      MPI_COMM_WORLD)
  CALL expect(ALL(rows(2, places + 1) == [(100 * j + 2, j = 0, ranks - 1)]), 'MPI_Allgatherv')
  DO j = 0, ranks - 1
    i = rows(2, places(j + 1) + 2)
    CALL expect(i == MERGE(100 * j + 7, -1, counts(j + 1) == 2), 'the second elements of MPI_Allgatherv')
  END DO
  rows = RESHAPE([(1000 * rank + i, i = 1, 6 * ranks)], [3, 2 * ranks])
  others = -1
  types = MPI_INTEGER
  CALL MPI_Ialltoallw(rows(3, :), [(2, j = 1, ranks)], [(8 * j, j = 0, ranks - 1)], types, others(1, :), &
      [(1, j = 1, ranks)], [(8 * (ranks - 1 - j), j = 0, ranks - 1)], [(MPI_2INTEGER, j = 1, ranks)], MPI_COMM_WORLD, &
      request)
  CALL finished
  DO j = 0, ranks - 1
    i = 2 * (ranks - 1 - j)
    CALL expect(ALL(others(1, i + 1:i + 2) == 1000 * j + [6 * rank + 3, 6 * rank + 6]), 'MPI_Ialltoallw')
  END DO
  CALL expect(ALL(others(2:3, :) == -1), 'rows that MPI_Ialltoallw does not have')

  CALL MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.TRUE.], .FALSE., ring)
  got = -1
  CALL MPI_Neighbor_alltoall(line(1:8:7), 1, MPI_INTEGER, got(3:1:-2), 1, MPI_INTEGER, ring)
  CALL expect(got(2) == -1, 'MPI_Neighbor_alltoall between the elements')
  IF (ranks > 2) CALL expect(got(3) == 100 * before + 8 .AND. got(1) == 100 * after + 1, 'MPI_Neighbor_alltoall')
  got = -1
  CALL MPI_Ineighbor_alltoallv(line(1:8:7), [1, 1], [0, 1], MPI_INTEGER, got(3:1:-2), [1, 1], [0, 1], MPI_INTEGER, &
      ring, request)
  CALL finished
  IF (ranks > 2) CALL expect(ALL(got(1:3) == [100 * after + 1, -1, 100 * before + 8]), 'MPI_Ineighbor_alltoallv')
  CALL MPI_Comm_free(ring)

  ! Sections that are too small.
  CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  CALL MPI_Ibcast(got(1:30:7), 6, MPI_INTEGER, 0, MPI_COMM_SELF, request, ierror)
  CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a section that is too small')
  CALL MPI_Allgatherv(line, 2, MPI_INTEGER, got(1:30:7), [2], [4], MPI_INTEGER, MPI_COMM_SELF, ierror)
  CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a block that begins in the section and ends behind it')
  CALL MPI_Allgatherv(line, 2, MPI_INTEGER, got(1:30:7), [2], [-1], MPI_INTEGER, MPI_COMM_SELF, ierror)
  CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a block before the section')
  CALL finish

CONTAINS

  SUBROUTINE finished
    CALL MPI_Wait(request, MPI_STATUS_IGNORE)
    CALL MPI_F_sync_reg(got)
    CALL MPI_F_sync_reg(rows)
    CALL MPI_F_sync_reg(others)
  END SUBROUTINE finished
END PROGRAM section_collectives
