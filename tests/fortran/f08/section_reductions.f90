! Array sections with gaps in reductions that do not block, that are persistent, or that have a list of counts: as send
! buffers, as receive buffers, in place, longer than the data, with operations of the program and of any length.
PROGRAM section_reductions
  USE checks_f08
  USE ISO_C_BINDING, ONLY: C_PTR, C_F_POINTER
  IMPLICIT NONE
  INTEGER, PARAMETER :: many = 30000
  INTEGER, ASYNCHRONOUS :: line(40), got(40)
  INTEGER, ALLOCATABLE, ASYNCHRONOUS :: from(:), into(:)
  INTEGER, ALLOCATABLE :: counts(:)
  TYPE(MPI_Request) :: request
  TYPE(MPI_Op) :: compose
  TYPE(MPI_Datatype) :: map, spread_map
  INTEGER :: i, j

  CALL begin
  line = [(100 * rank + i, i = 1, 40)]
  ! A process's part of a result that is scattered: none for some.
  counts = [(MODULO(j, 3), j = 0, ranks - 1)]
  IF (ranks == 1) counts = [2]
  CALL MPI_Op_create(composed, .FALSE., compose)
  CALL MPI_Type_contiguous(2, MPI_INTEGER, map)
  CALL MPI_Type_commit(map)
  CALL MPI_Type_vector(2, 1, 2, MPI_INTEGER, spread_map)
  CALL MPI_Type_commit(spread_map)

  CALL to_one_process
  CALL to_all
  CALL scans
  CALL scattered
  CALL operations_of_the_program
  CALL again_and_again
  CALL long_ones
  IF (ranks > 1) CALL between_groups
  CALL refused
  CALL MPI_Type_free(spread_map)
  CALL MPI_Type_free(map)
  CALL MPI_Op_free(compose)
  CALL finish

CONTAINS

  ! The sum of an element of `line` over the ranks 0 to `last`.
  ELEMENTAL INTEGER FUNCTION total(last, element)
    INTEGER, INTENT(IN) :: last, element
    total = 50 * last * (last + 1) + (last + 1) * element
  END FUNCTION total

  SUBROUTINE finished
    CALL MPI_Wait(request, MPI_STATUS_IGNORE)
    CALL MPI_F_sync_reg(got)
    CALL MPI_F_sync_reg(into)
    CALL expect(request == MPI_REQUEST_NULL, 'the request')
  END SUBROUTINE finished

  SUBROUTINE to_one_process
    INTEGER :: root
    root = ranks - 1
    got = -1
    CALL MPI_Ireduce(line(1:40:3), got(40:1:-4), 5, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, request)
    CALL finished
    IF (rank == root) THEN
      CALL expect(ALL(got(40:24:-4) == total(root, [1, 4, 7, 10, 13])), 'MPI_Ireduce')
      CALL expect(COUNT(got == -1) == 35, 'elements that MPI_Ireduce does not define')
    ELSE
      CALL expect(ALL(got == -1), 'MPI_Ireduce at others')
    END IF
    ! A section on one side only.
    got = -1
    CALL MPI_Ireduce(line, got(2:40:19), 2, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, request)
    CALL finished
    IF (rank == 0) CALL expect(ALL(got(2:21:19) == 100 * root + [1, 2]) .AND. got(40) == -1, 'sections of the root')
    got = -1
    CALL MPI_Ireduce(line(40:1:-1), got, 3, MPI_INTEGER, MPI_MIN, 0, MPI_COMM_WORLD, request)
    CALL finished
    IF (rank == 0) CALL expect(ALL(got(1:4) == [40, 39, 38, -1]), 'sections that are sent')
    ! In place at the root, where others send sections. Their receive buffers are not significant.
    got = line
    IF (rank == root) THEN
      CALL MPI_Ireduce(MPI_IN_PLACE, got(3:40:9), 4, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, request)
    ELSE
      CALL MPI_Ireduce(got(3:40:9), line(1:4:3), 4, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, request)
    END IF
    CALL finished
    IF (rank == root) THEN
      CALL expect(ALL(got(3:30:9) == total(root, [3, 12, 21, 30])), 'MPI_Ireduce in place')
      CALL expect(got(4) == line(4) .AND. got(39) == line(39), 'elements beside')
    ELSE
      CALL expect(ALL(got == line), 'buffers that are sent')
    END IF
    got = -1
    CALL MPI_Ireduce(line(1:40:3), got(1:40:3), 0, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got == -1), 'MPI_Ireduce of no elements')
  END SUBROUTINE to_one_process

  SUBROUTINE to_all
    got = -1
    CALL MPI_Iallreduce(line(40:1:-3), got(1:40:2), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(1:11:2) == total(ranks - 1, [(i, i = 40, 25, -3)])), 'MPI_Iallreduce')
    CALL expect(ALL(got(2:40:2) == -1) .AND. ALL(got(13:) == -1), 'elements beside')
    got = -1
    CALL MPI_Iallreduce(line(5:40:35), got, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(1:3) == [total(ranks - 1, 5), total(ranks - 1, 40), -1]), 'sections that are sent')
    got = -1
    CALL MPI_Iallreduce(line, got(40:1:-39), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(got(40) == total(ranks - 1, 1) .AND. got(1) == total(ranks - 1, 2), 'sections that are received')
    got = line
    CALL MPI_Iallreduce(MPI_IN_PLACE, got(1:40:4), 9, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(1:33:4) == total(ranks - 1, [(i, i = 1, 33, 4)])), 'MPI_Iallreduce in place')
    CALL expect(ALL(got(2:40:4) == line(2:40:4)) .AND. got(37) == line(37), 'elements beside')
    got = -1
    CALL MPI_Iallreduce(line(1:40:3), got(1:40:3), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got == -1), 'MPI_Iallreduce of no elements')
    ! One element has no gaps.
    CALL MPI_Iallreduce(line(7:40:9), got(9:40:9), 1_MPI_COUNT_KIND, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(got(9) == total(ranks - 1, 7) .AND. COUNT(got == -1) == 39, 'one element, with a large count')
  END SUBROUTINE to_all

  SUBROUTINE scans
    got = -1
    CALL MPI_Iscan(line(2:40:5), got(39:1:-6), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(39:21:-6) == total(rank, [2, 7, 12, 17])) .AND. COUNT(got == -1) == 36, 'MPI_Iscan')
    got = line
    CALL MPI_Iscan(MPI_IN_PLACE, got(1:40:13), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(1:27:13) == total(rank, [1, 14, 27])) .AND. got(40) == line(40), 'MPI_Iscan in place')
    got = -1
    CALL MPI_Iscan(line(1:40:3), got(1:40:3), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got == -1), 'MPI_Iscan of no elements')

    CALL MPI_Iexscan(line(2:40:5), got(39:1:-6), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    IF (rank == 0) CALL expect(ALL(got == -1), 'MPI_Iexscan at the first process')
    IF (rank > 0) CALL expect(ALL(got(39:21:-6) == total(rank - 1, [2, 7, 12, 17])), 'MPI_Iexscan')
    IF (rank > 0) CALL expect(COUNT(got == -1) == 36, 'elements beside')
    got = line
    CALL MPI_Iexscan(MPI_IN_PLACE, got(1:40:13), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    IF (rank > 0) CALL expect(ALL(got(1:27:13) == total(rank - 1, [1, 14, 27])), 'MPI_Iexscan in place')
    CALL expect(ALL(got(2:13) == line(2:13)) .AND. got(40) == line(40), 'elements beside')
    got = -1
    CALL MPI_Iexscan(line(1:40:3), got(1:40:3), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got == -1), 'MPI_Iexscan of no elements')
  END SUBROUTINE scans

  ! This process's part, which begins behind those of lower ranks, of the sums of every third element.
  SUBROUTINE expect_part(length, stride, what)
    INTEGER, INTENT(IN) :: length, stride
    CHARACTER(LEN=*), INTENT(IN) :: what
    INTEGER :: element, first
    first = SUM(counts(1:rank))
    DO element = 1, length
      i = 1 + 3 * (first + element - 1)
      CALL expect(got(1 + stride * (element - 1)) == total(ranks - 1, i), what)
    END DO
    CALL expect(COUNT(got == -1) == 40 - length, what // ': elements beside')
  END SUBROUTINE expect_part

  SUBROUTINE scattered
    INTEGER :: total_count, own
    total_count = SUM(counts)
    own = counts(rank + 1)
    got = -1
    CALL MPI_Reduce_scatter(line(1:40:3), got(1:40:7), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CALL expect_part(own, 7, 'MPI_Reduce_scatter')
    got = -1
    CALL MPI_Reduce_scatter(line(1:40:3), got, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CALL expect_part(own, 1, 'MPI_Reduce_scatter from sections')
    got = -1
    CALL MPI_Ireduce_scatter(line(1:40:3), got(1:40:7), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect_part(own, 7, 'MPI_Ireduce_scatter')
    from = [(line(1 + 3 * (i - 1)), i = 1, MAX(total_count, 1))]
    got = -1
    CALL MPI_Ireduce_scatter(from, got(1:40:7), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect_part(own, 7, 'MPI_Ireduce_scatter into sections')
    ! In place: the first elements of the section become the result, and the others are undefined.
    got = line
    CALL MPI_Reduce_scatter(MPI_IN_PLACE, got(1:40:3), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    got(2:40:3) = -1
    got(3:40:3) = -1
    got(1 + 3 * own::3) = -1
    CALL expect_part(own, 3, 'MPI_Reduce_scatter in place')
    got = line
    CALL MPI_Ireduce_scatter(MPI_IN_PLACE, got(1:40:3), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(2:40:3) == line(2:40:3)) .AND. ALL(got(3:40:3) == line(3:40:3)), 'elements beside')
    got(2:40:3) = -1
    got(3:40:3) = -1
    got(1 + 3 * own::3) = -1
    CALL expect_part(own, 3, 'MPI_Ireduce_scatter in place')
    got = -1
    CALL MPI_Reduce_scatter(line(1:40:3), got(1:40:7), 0 * counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CALL MPI_Ireduce_scatter(line(1:40:3), got(1:40:7), 0 * counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got == -1), 'MPI_Reduce_scatter of no elements')

    CALL MPI_Ireduce_scatter_block(line(1:40:3), got(40:1:-11), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(40:29:-11) == total(ranks - 1, [6 * rank + 1, 6 * rank + 4])), 'MPI_Ireduce_scatter_block')
    CALL expect(COUNT(got == -1) == 38, 'elements beside')
    got = line
    CALL MPI_Ireduce_scatter_block(MPI_IN_PLACE, got(40:1:-3), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(got(40) == total(ranks - 1, 40 - 3 * rank), 'MPI_Ireduce_scatter_block in place')
    CALL expect(ALL(got(1:39:3) == line(1:39:3) .OR. [(i > 40 - 3 * ranks, i = 1, 39, 3)]), 'elements behind')
    got = -1
    CALL MPI_Ireduce_scatter_block(line(1:40:3), got(1:40:3), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got == -1), 'MPI_Ireduce_scatter_block of no elements')
  END SUBROUTINE scattered

  ! The maps x -> a x + b of the ranks `first` to `last`, one after the other: the lowest rank's first.
  PURE FUNCTION composition(first, last, element)
    INTEGER, INTENT(IN) :: first, last, element
    INTEGER :: composition(2), other
    composition = own_map(first, element)
    DO other = first + 1, last
      composition = follow(composition, own_map(other, element))
    END DO
  END FUNCTION composition

  PURE FUNCTION own_map(of, element)
    INTEGER, INTENT(IN) :: of, element
    INTEGER :: own_map(2)
    own_map = [MODULO(of + element, 3) + 1, 10 * of + element]
  END FUNCTION own_map

  PURE FUNCTION follow(lower, higher)
    INTEGER, INTENT(IN) :: lower(2), higher(2)
    INTEGER :: follow(2)
    follow = [lower(1) * higher(1), higher(1) * lower(2) + higher(2)]
  END FUNCTION follow

  SUBROUTINE composed(invec, inoutvec, len, datatype)
    TYPE(C_PTR), VALUE :: invec, inoutvec
    INTEGER :: len
    TYPE(MPI_Datatype) :: datatype
    INTEGER, POINTER :: lower(:), higher(:)
    INTEGER :: map_of, at, between
    CALL expect(datatype == map .OR. datatype == spread_map, 'the datatype of an operation')
    ! Two numbers side by side, or with another one between them.
    between = MERGE(1, 2, datatype == map)
    CALL C_F_POINTER(invec, lower, [(1 + between) * len])
    CALL C_F_POINTER(inoutvec, higher, [(1 + between) * len])
    DO map_of = 0, len - 1
      at = (1 + between) * map_of + 1
      higher(at:at + between:between) = follow(lower(at:at + between:between), higher(at:at + between:between))
    END DO
  END SUBROUTINE composed

  SUBROUTINE operations_of_the_program
    INTEGER :: maps(2, 5), last
    last = ranks - 1
    maps = RESHAPE([(own_map(rank, i), i = 1, 5)], [2, 5])
    from = [(0, i = 1, 40)]
    from(1:40:4) = RESHAPE(maps, [10])
    got = -1
    CALL MPI_Iallreduce(from(1:40:4), got(2:40:3), 5, map, compose, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(2:29:3) == [(composition(0, last, i), i = 1, 5)]), 'MPI_Iallreduce in the order of ranks')
    CALL expect(COUNT(got == -1) == 30, 'elements beside')
    got = -1
    CALL MPI_Ireduce(from(1:40:4), got(40:1:-3), 4, map, compose, last, MPI_COMM_WORLD, request)
    CALL finished
    IF (rank == last) CALL expect(ALL(got(40:19:-3) == [(composition(0, last, i), i = 1, 4)]), 'MPI_Ireduce')
    got = -1
    CALL MPI_Iscan(from(1:40:4), got(2:40:3), 5, map, compose, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(2:29:3) == [(composition(0, rank, i), i = 1, 5)]), 'MPI_Iscan in the order of ranks')
    got = -1
    CALL MPI_Iexscan(from(1:40:4), got(2:40:3), 5, map, compose, MPI_COMM_WORLD, request)
    CALL finished
    IF (rank > 0) CALL expect(ALL(got(2:29:3) == [(composition(0, rank - 1, i), i = 1, 5)]), 'MPI_Iexscan')
    IF (rank == 0) CALL expect(ALL(got == -1), 'MPI_Iexscan at the first process')
    got = -1
    CALL MPI_Ireduce_scatter_block(from(1:40:4), got(1:40:39), 1, map, compose, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(got(1:40:39) == composition(0, last, rank + 1)), 'MPI_Ireduce_scatter_block')
    got = -1
    counts = 0
    counts(ranks) = 3
    CALL MPI_Reduce_scatter(from(1:40:4), got(1:40:5), counts, map, compose, MPI_COMM_WORLD)
    IF (rank == last) CALL expect(ALL(got(1:26:5) == [(composition(0, last, i), i = 1, 3)]), 'MPI_Reduce_scatter')
    IF (rank /= last) CALL expect(ALL(got == -1), 'MPI_Reduce_scatter of no own elements')
    ! A datatype with gaps of its own, in a section: elements 1 and 3, 4 and 6, 7 and 9 of the section.
    from = 0
    DO i = 1, 3
      from(1 + 4 * (3 * i - 3)) = maps(1, i)
      from(1 + 4 * (3 * i - 1)) = maps(2, i)
    END DO
    got = -1
    CALL MPI_Iallreduce(from(1:40:4), got(40:1:-4), 3, spread_map, compose, MPI_COMM_WORLD, request)
    CALL finished
    DO i = 1, 3
      CALL expect(ALL(got(52 - 12 * i:44 - 12 * i:-8) == composition(0, last, i)), 'a datatype with gaps')
    END DO
    CALL expect(COUNT(got == -1) == 34, 'the gaps of the datatype')
  END SUBROUTINE operations_of_the_program

  ! The sections of persistent operations are used at each start, when the procedure that made them has returned.
  SUBROUTINE again_and_again
    TYPE(MPI_Request) :: requests(7)
    INTEGER, ASYNCHRONOUS :: results(60, 7)
    INTEGER :: pass, expected(4), part(4)
    CALL make(requests, results)
    DO pass = 1, 3
      line = pass * [(100 * rank + i, i = 1, 40)]
      results = -1
      results(1:37:12, 7) = line(1:10:3)
      CALL MPI_Startall(7, requests)
      CALL MPI_Waitall(7, requests, MPI_STATUSES_IGNORE)
      CALL MPI_F_sync_reg(results)
      expected = pass * total(ranks - 1, [1, 4, 7, 10])
      IF (rank == 0) CALL expect(ALL(results(1:7:2, 1) == expected), 'MPI_Reduce_init')
      IF (rank /= 0) CALL expect(ALL(results(:, 1) == -1), 'MPI_Reduce_init at others')
      CALL expect(ALL(results(7:1:-2, 2) == expected), 'MPI_Allreduce_init')
      CALL expect(ALL(results(1:10:3, 3) == pass * total(rank, [1, 4, 7, 10])), 'MPI_Scan_init')
      IF (rank > 0) CALL expect(ALL(results(1:10:3, 4) == pass * total(rank - 1, [1, 4, 7, 10])), 'MPI_Exscan_init')
      IF (rank == 0) CALL expect(ALL(results(:, 4) == -1), 'MPI_Exscan_init at the first process')
      part = pass * total(ranks - 1, 1 + 3 * (2 * rank + [0, 1, 2, 3]))
      CALL expect(ALL(results(60:40:-20, 5) == part(1:2)), 'MPI_Reduce_scatter_block_init')
      CALL expect(ALL(results(59:39:-20, 6) == part(1:2)), 'MPI_Reduce_scatter_init')
      CALL expect(ALL(results(1:37:12, 7) == expected), 'MPI_Allreduce_init in place')
      CALL expect(COUNT(results(:, 2) == -1) == 56 .AND. COUNT(results(:, 7) == -1) == 56, 'elements beside')
      CALL expect(COUNT(results(:, 5:6) == -1) == 116, 'elements beside those that are scattered')
    END DO
    DO i = 1, 7
      CALL MPI_Request_free(requests(i))
    END DO
    line = [(100 * rank + i, i = 1, 40)]
  END SUBROUTINE again_and_again

  SUBROUTINE make(requests, results)
    TYPE(MPI_Request), INTENT(OUT) :: requests(7)
    INTEGER, ASYNCHRONOUS, INTENT(INOUT) :: results(60, 7)
    ! The operation keeps the list of counts.
    INTEGER :: parts(ranks)
    parts = 2
    CALL MPI_Reduce_init(line(1:40:3), results(1:60:2, 1), 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, &
        MPI_INFO_NULL, requests(1))
    CALL MPI_Allreduce_init(line(1:40:3), results(7:1:-2, 2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, requests(2))
    CALL MPI_Scan_init(line(1:40:3), results(1:60:3, 3), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
        requests(3))
    CALL MPI_Exscan_init(line(1:40:3), results(1:60:3, 4), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
        requests(4))
    CALL MPI_Reduce_scatter_block_init(line(1:40:3), results(60:1:-20, 5), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, requests(5))
    CALL MPI_Reduce_scatter_init(line(1:40:3), results(59:1:-20, 6), parts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, requests(6))
    parts = -1
    CALL MPI_Allreduce_init(MPI_IN_PLACE, results(1:60:12, 7), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, requests(7))
  END SUBROUTINE make

  ! Reductions that the processes split among them, and pass on in pieces.
  SUBROUTINE long_ones
    INTEGER :: own, first
    INTEGER, ALLOCATABLE :: sums(:)
    DEALLOCATE (from)
    ALLOCATE (from(2 * many), into(3 * many), sums(many))
    from(1::2) = [(rank + i, i = 1, many)]
    from(2::2) = -1
    sums = [(ranks * (ranks - 1) / 2 + ranks * i, i = 1, many)]
    into = -1
    CALL MPI_Iallreduce(from(1::2), into(1::3), many, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(into(1::3) == sums) .AND. ALL(into(2::3) == -1), 'a long MPI_Iallreduce')
    into = -1
    CALL MPI_Ireduce(from(1::2), into(3 * many:1:-3), many, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request)
    CALL finished
    IF (rank == 0) CALL expect(ALL(into(3 * many:1:-3) == sums) .AND. ALL(into(2::3) == -1), 'a long MPI_Ireduce')
    into = -1
    into(1::3) = from(1::2)
    CALL MPI_Iallreduce(MPI_IN_PLACE, into(1::3), many, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(into(1::3) == sums) .AND. ALL(into(2::3) == -1), 'a long MPI_Iallreduce in place')
    counts = many / ranks
    counts(ranks) = many - (ranks - 1) * (many / ranks)
    first = rank * (many / ranks)
    own = counts(rank + 1)
    into = -1
    CALL MPI_Reduce_scatter(from(1::2), into(1::3), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CALL expect(ALL(into(1:3 * own:3) == sums(first + 1:first + own)), 'a long MPI_Reduce_scatter')
    CALL expect(COUNT(into == -1) == 3 * many - own, 'elements beside')
    into = -1
    into(1::3) = from(1::2)
    CALL MPI_Ireduce_scatter(MPI_IN_PLACE, into(1::3), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    CALL finished
    CALL expect(ALL(into(1:3 * own:3) == sums(first + 1:first + own)), 'a long MPI_Ireduce_scatter in place')
    DEALLOCATE (into)
  END SUBROUTINE long_ones

  ! Each group gets the sums of the other one: the first process, and all others.
  SUBROUTINE between_groups
    TYPE(MPI_Comm) :: own, both
    INTEGER :: side, others
    side = MERGE(0, 1, rank == 0)
    CALL MPI_Comm_split(MPI_COMM_WORLD, side, rank, own)
    CALL MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - side, 7, both)
    CALL MPI_Comm_remote_size(both, others)
    got = -1
    CALL MPI_Iallreduce(line(1:40:3), got(1:40:9), 3, MPI_INTEGER, MPI_SUM, both, request)
    CALL finished
    IF (side == 1) CALL expect(ALL(got(1:19:9) == [1, 4, 7]), 'the sums of the first process')
    IF (side == 0) CALL expect(ALL(got(1:19:9) == total(ranks - 1, [1, 4, 7]) - [1, 4, 7]), 'the sums of the others')
    CALL expect(COUNT(got == -1) == 37, 'elements beside')
    got = -1
    IF (side == 0) THEN
      CALL MPI_Ireduce(line, got(1:40:9), 3, MPI_INTEGER, MPI_MAX, MPI_ROOT, both, request)
    ELSE
      CALL MPI_Ireduce(line(1:40:3), got, 3, MPI_INTEGER, MPI_MAX, 0, both, request)
    END IF
    CALL finished
    IF (side == 0) CALL expect(ALL(got(1:19:9) == 100 * others + [1, 4, 7]), 'MPI_Ireduce between groups')
    ! The counts of each group have the same sum.
    got = -1
    IF (side == 0) THEN
      CALL MPI_Reduce_scatter(line(1:40:3), got(1:40:2), [2 * others], MPI_INTEGER, MPI_MIN, both)
      CALL expect(ALL(got(1:4 * others:2) == 100 + [(1 + 3 * i, i = 0, 2 * others - 1)]), 'MPI_Reduce_scatter')
    ELSE
      CALL MPI_Reduce_scatter(line(1:40:3), got(1:40:2), [(2, i = 1, ranks - 1)], MPI_INTEGER, MPI_MIN, both)
      CALL expect(ALL(got(1:3:2) == [6 * rank - 5, 6 * rank - 2]), 'MPI_Reduce_scatter between groups')
    END IF
    CALL MPI_Comm_free(both)
    CALL MPI_Comm_free(own)
  END SUBROUTINE between_groups

  ! Sections that are too small are errors, and no memory is touched.
  SUBROUTINE refused
    CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    got = -1
    CALL MPI_Iallreduce(line(1:40:10), got(1:40:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request, ierror)
    CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a send section that is too small')
    CALL MPI_Iscan(line(1:40:2), got(1:40:10), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request, ierror)
    CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a receive section that is too small')
    CALL MPI_Iallreduce(MPI_IN_PLACE, got(1:40:10), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request, ierror)
    CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a section in place that is too small')
    CALL MPI_Reduce_scatter(line(1:40:10), got(1:40:2), [5], MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, ierror)
    CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a section with less elements than all processes get')
    CALL MPI_Allreduce_init(line(1:40:2), got(1:40:10), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &
        request, ierror)
    CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a section of a persistent operation')
    CALL expect(ALL(got == -1), 'memory of calls that have failed')
    CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  END SUBROUTINE refused
END PROGRAM section_reductions
