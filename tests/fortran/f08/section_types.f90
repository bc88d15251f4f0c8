! Datatypes whose items are not whole elements of a section: they describe the elements one after the other, in calls that
! block and in calls that do not, on both sides, in files, windows and partitions.
PROGRAM section_types
  USE checks_f08
  IMPLICIT NONE
  INTEGER, PARAMETER :: kinds = 7
  INTEGER, PARAMETER :: integers(kinds) = [24, 24, 24, 16, 16, 24, 12]
  INTEGER, PARAMETER :: counts(kinds) = [12, 96, 4, 8, 4, 12, 3]
  TYPE(MPI_Datatype) :: types(kinds), pair, gaps, triple, odd, plain
  TYPE(MPI_Request) :: requests(2)
  TYPE(MPI_Status) :: status
  INTEGER, ASYNCHRONOUS :: out(60), in(60), cube(4, 5, 6), whole(60)
  INTEGER :: expected(60), flat(60), i, kind, elements

  CALL begin
  CALL MPI_Type_contiguous(6, MPI_INTEGER, triple)
  CALL MPI_Type_commit(triple)
  ! The first and the third of three, so that the second item begins with the fourth element.
  CALL MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
  CALL MPI_Type_commit(gaps)
  ! Four elements, the last two first, the first halves of an element behind the second ones.
  CALL MPI_Type_create_hindexed(3, [8, 4, 4], [8, 4, 0] + 0_MPI_ADDRESS_KIND, MPI_BYTE, odd)
  CALL MPI_Type_commit(odd)
  pair = MPI_2INTEGER
  CALL MPI_Type_create_hindexed(2, [2, 2], [2, 0] + 0_MPI_ADDRESS_KIND, MPI_BYTE, plain)
  CALL MPI_Type_commit(plain)
  types = [pair, MPI_BYTE, triple, gaps, odd, MPI_DOUBLE_PRECISION, plain]
  out = [(1000 * rank + i, i = 1, 60)]

  DO kind = 1, kinds
    ! What a contiguous copy of the section gives.
    flat = -1
    flat(1:30) = out(1:60:2)
    CALL exchange(kind, flat)
    expected = in
    in = -1
    CALL MPI_Irecv(in, 60, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, requests(1))
    CALL MPI_Isend(out(1:60:2), counts(kind), types(kind), rank, 1, MPI_COMM_WORLD, requests(2))
    CALL complete
    CALL expect(ALL(in == expected), 'MPI_Isend')
    in = -1
    CALL MPI_Sendrecv(out(1:60:2), counts(kind), types(kind), rank, 1, in, 60, MPI_INTEGER, rank, 1, &
        MPI_COMM_WORLD, status)
    CALL expect(ALL(in == expected), 'MPI_Sendrecv')

    ! The same when it receives.
    flat = -1
    CALL MPI_Sendrecv(out, bytes_of(kind), MPI_BYTE, rank, 1, flat, counts(kind), types(kind), rank, 1, &
        MPI_COMM_WORLD, status)
    expected = -1
    expected(60:1:-2) = flat(1:30)
    in = -1
    CALL MPI_Irecv(in(60:1:-2), counts(kind), types(kind), rank, 1, MPI_COMM_WORLD, requests(1))
    CALL MPI_Isend(out, bytes_of(kind), MPI_BYTE, rank, 1, MPI_COMM_WORLD, requests(2))
    CALL complete
    CALL expect(ALL(in == expected), 'MPI_Irecv')
    in = -1
    CALL MPI_Recv_init(in(60:1:-2), counts(kind), types(kind), rank, 1, MPI_COMM_WORLD, requests(1))
    CALL MPI_Send_init(out, bytes_of(kind), MPI_BYTE, rank, 1, MPI_COMM_WORLD, requests(2))
    DO i = 1, 2
      CALL MPI_Startall(2, requests)
      CALL complete
    END DO
    CALL MPI_Request_free(requests(1))
    CALL MPI_Request_free(requests(2))
    CALL expect(ALL(in == expected), 'MPI_Recv_init')

    ! Three dimensions.
    cube = -1
    CALL MPI_Irecv(cube(1:4:2, 5:1:-2, 1:6:1), counts(kind), types(kind), rank, 1, MPI_COMM_WORLD, requests(1))
    CALL MPI_Isend(out, bytes_of(kind), MPI_BYTE, rank, 1, MPI_COMM_WORLD, requests(2))
    CALL complete
    CALL expect(ALL(RESHAPE(cube(1:4:2, 5:1:-2, 1:6:1), [36]) == flat(1:36)), 'a section of three dimensions')
    CALL expect(ALL(cube(2:4:2, :, :) == -1) .AND. ALL(cube(:, 2:4:2, :) == -1), 'elements beside the section')
  END DO

  CALL MPI_Irecv(in(1:60:3), 10_MPI_COUNT_KIND, pair, rank, 1, MPI_COMM_WORLD, requests(1))
  CALL MPI_Isend(out(1:60:3), 6_MPI_COUNT_KIND, pair, rank, 1, MPI_COMM_WORLD, requests(2))
  CALL MPI_Wait(requests(1), status)
  CALL MPI_Wait(requests(2), MPI_STATUS_IGNORE)
  CALL MPI_Get_elements(status, pair, elements)
  CALL expect(elements == 12 .AND. ALL(in(1:36:3) == out(1:36:3)), 'the status of a large count')

  CALL windows
  CALL partitions
  CALL MPI_Type_free(triple)
  CALL MPI_Type_free(gaps)
  CALL MPI_Type_free(odd)
  CALL MPI_Type_free(plain)
  CALL finish

CONTAINS

  INTEGER FUNCTION bytes_of(kind)
    INTEGER, INTENT(IN) :: kind
    INTEGER :: size
    CALL MPI_Type_size(types(kind), size)
    bytes_of = size * counts(kind)
    CALL expect(bytes_of <= 4 * integers(kind), 'the size of the message')
  END FUNCTION bytes_of

  SUBROUTINE exchange(kind, from)
    INTEGER, INTENT(IN) :: kind, from(60)
    in = -1
    CALL MPI_Sendrecv(from, counts(kind), types(kind), rank, 1, in, 60, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
  END SUBROUTINE exchange

  SUBROUTINE complete
    CALL MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CALL MPI_F_sync_reg(in)
    CALL MPI_F_sync_reg(cube)
  END SUBROUTINE complete

  ! Accumulations of pairs, and operations on one element that no element of the section holds.
  SUBROUTINE windows
    TYPE(MPI_Win) :: win
    INTEGER, ASYNCHRONOUS :: memory(12), origin(8), before(12), compare(4)
    memory = [(10 * i, i = 1, 12)]
    origin = [1, -1, 100, -1, 35, -1, 7, -1]
    before = -1
    CALL MPI_Win_create(memory, 48_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    CALL MPI_Win_fence(0, win)
    CALL MPI_Get_accumulate(origin(1:7:2), 2, pair, before(12:1:-3), 2, pair, rank, 0_MPI_ADDRESS_KIND, 2, pair, &
        MPI_MAXLOC, win)
    CALL MPI_Win_fence(0, win)
    CALL MPI_F_sync_reg(memory)
    CALL expect(ALL(memory(1:4) == [10, 20, 35, 7]), 'MPI_MAXLOC of a section')
    CALL expect(ALL(before == [-1, -1, 40, -1, -1, 30, -1, -1, 20, -1, -1, 10]), 'what it was before')
    CALL MPI_Put(origin(1:7:2), 2, MPI_INTEGER8, rank, 4_MPI_ADDRESS_KIND, 2, MPI_INTEGER8, win)
    CALL MPI_Win_fence(0, win)
    CALL MPI_F_sync_reg(memory)
    CALL expect(ALL(memory(5:8) == [1, 100, 35, 7]), 'MPI_Put')
    before = -1
    CALL MPI_Fetch_and_op(origin(7:1:-2), before(2:12:2), pair, rank, 8_MPI_ADDRESS_KIND, MPI_REPLACE, win)
    CALL MPI_Win_fence(0, win)
    CALL expect(ALL(memory(9:10) == [7, 35]), 'MPI_Fetch_and_op from a section')
    CALL expect(ALL(before(1:5) == [-1, 90, -1, 100, -1]), 'MPI_Fetch_and_op into a section')
    CALL MPI_Fetch_and_op(origin(1:7:2), before(12:1:-1), MPI_INTEGER, rank, 8_MPI_ADDRESS_KIND, MPI_SUM, win)
    CALL MPI_Win_fence(0, win)
    CALL expect(memory(9) == 8 .AND. before(12) == 7 .AND. before(11) == -1, 'MPI_Fetch_and_op of one element')
    compare = [110, 0, 0, 120]
    before = -1
    CALL MPI_Compare_and_swap(origin(1:7:2), compare(1:4:3), before(1:12:5), MPI_INTEGER8, rank, &
        10_MPI_ADDRESS_KIND, win)
    CALL MPI_Win_fence(0, win)
    CALL expect(ALL(memory(11:12) == [1, 100]) .AND. before(1) == 110 .AND. before(6) == 120, 'MPI_Compare_and_swap')
    CALL MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    CALL MPI_Fetch_and_op(origin(1:8:8), before(1:1), pair, rank, 0_MPI_ADDRESS_KIND, MPI_NO_OP, win, ierror)
    CALL expect(ierror == MPI_SUCCESS, 'an origin that is not significant')
    CALL MPI_Win_fence(0, win)
    CALL MPI_Fetch_and_op(origin(1:4:3), before, MPI_2DOUBLE_PRECISION, rank, 0_MPI_ADDRESS_KIND, MPI_SUM, win, ierror)
    CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a section with less than one element')
    CALL MPI_Win_fence(0, win)
    CALL MPI_Win_free(win)
  END SUBROUTINE windows

  ! Partitions that begin anywhere in the section.
  SUBROUTINE partitions
    INTEGER :: next, previous, pass
    next = MODULO(rank + 1, ranks)
    previous = MODULO(rank - 1, ranks)
    cube = RESHAPE([(i + 1000 * rank, i = 1, 120)], [4, 5, 6])
    whole = -1
    CALL MPI_Psend_init(cube(1:4:3, 5:1:-2, 2:5), 4, 3_MPI_COUNT_KIND, pair, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &
        requests(1))
    CALL MPI_Precv_init(whole(1:59:2), 3, 8_MPI_COUNT_KIND, MPI_INTEGER, previous, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &
        requests(2))
    DO pass = 1, 2
      whole = -1
      CALL MPI_Startall(2, requests)
      CALL MPI_Pready(3, requests(1))
      CALL MPI_Pready(0, requests(1))
      CALL MPI_Pready_range(1, 2, requests(1))
      CALL MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      CALL MPI_F_sync_reg(whole)
      CALL expect(ALL(whole(1:47:2) == RESHAPE(cube(1:4:3, 5:1:-2, 2:5), [24]) + 1000 * (previous - rank)), 'partitions')
      CALL expect(ALL(whole(2:60:2) == -1) .AND. ALL(whole(49:60) == -1), 'elements that no partition has')
    END DO
    CALL MPI_Request_free(requests(1))
    CALL MPI_Request_free(requests(2))
    CALL MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    requests(1) = MPI_REQUEST_NULL
    CALL MPI_Psend_init(whole(1:60:4), 4, 4_MPI_COUNT_KIND, MPI_INTEGER, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &
        requests(1), ierror)
    CALL expect(is_of_class(ierror, MPI_ERR_COUNT) .AND. requests(1) == MPI_REQUEST_NULL, 'more partitions than data')
  END SUBROUTINE partitions
END PROGRAM section_types
