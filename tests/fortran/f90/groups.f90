! Groups, communicators and grids: arrays of ranges, of truth values and of coordinates.
PROGRAM groups
  USE checks
  IMPLICIT NONE
  INTEGER :: world, group, sub, n, ranges(3, 1), translated(2), comm, half, result, dims(2), coords(2), cart, row
  INTEGER :: source, dest, place, indices(2), edges(2), graph, nodes, number, kind, status(8)
  LOGICAL :: periods(2), got(2), flag
  TYPE(MPI_Status) :: f08
  TYPE(MPI_Comm) :: one, other

  CALL begin
  CALL MPI_COMM_GROUP(MPI_COMM_WORLD, world, ierror)
  CALL MPI_GROUP_SIZE(world, n, ierror)
  CALL expect(n == ranks, 'MPI_GROUP_SIZE')
  ranges(:, 1) = (/ 0, ranks - 1, 2 /)
  CALL MPI_GROUP_RANGE_INCL(world, 1, ranges, group, ierror)
  CALL MPI_GROUP_SIZE(group, n, ierror)
  CALL expect(n == (ranks + 1) / 2, 'MPI_GROUP_RANGE_INCL')
  IF (ranks > 1) THEN
    CALL MPI_GROUP_TRANSLATE_RANKS(world, 2, (/ 0, 1 /), group, translated, ierror)
    CALL expect(translated(1) == 0 .AND. translated(2) == MPI_UNDEFINED, 'MPI_GROUP_TRANSLATE_RANKS')
  END IF
  CALL MPI_GROUP_DIFFERENCE(world, world, sub, ierror)
  CALL expect(sub == MPI_GROUP_EMPTY, 'MPI_GROUP_EMPTY')
  CALL MPI_COMM_CREATE(MPI_COMM_WORLD, group, comm, ierror)
  CALL expect((comm == MPI_COMM_NULL) .EQV. (MOD(rank, 2) == 1), 'MPI_COMM_CREATE')
  IF (comm /= MPI_COMM_NULL) CALL MPI_COMM_FREE(comm, ierror)
  CALL MPI_GROUP_FREE(group, ierror)
  CALL MPI_GROUP_FREE(world, ierror)
  CALL expect(group == MPI_GROUP_NULL, 'MPI_GROUP_FREE')
  CALL MPI_COMM_SPLIT(MPI_COMM_WORLD, MOD(rank, 2), -rank, half, ierror)
  CALL MPI_COMM_SIZE(half, n, ierror)
  CALL expect(n == (ranks + 1 - MOD(rank, 2)) / 2, 'MPI_COMM_SPLIT')
  CALL MPI_COMM_COMPARE(half, MPI_COMM_WORLD, result, ierror)
  IF (ranks > 1) CALL expect(result == MPI_UNEQUAL, 'MPI_COMM_COMPARE')
  CALL MPI_COMM_FREE(half, ierror)
  CALL MPI_COMM_TEST_INTER(MPI_COMM_WORLD, flag, ierror)
  CALL expect(.NOT. flag, 'MPI_COMM_TEST_INTER')

  dims = 0
  CALL MPI_DIMS_CREATE(ranks, 2, dims, ierror)
  CALL expect(dims(1) * dims(2) == ranks, 'MPI_DIMS_CREATE')
  periods = (/ .TRUE., .FALSE. /)
  CALL MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .FALSE., cart, ierror)
  CALL MPI_CART_GET(cart, 2, indices, got, coords, ierror)
  CALL expect(ALL(indices == dims) .AND. got(1) .AND. .NOT. got(2), 'MPI_CART_GET')
  CALL MPI_CART_RANK(cart, coords, place, ierror)
  CALL expect(place == rank, 'MPI_CART_RANK')
  ! Directions count from 0 in Fortran, too.
  CALL MPI_CART_SHIFT(cart, 0, dims(1), source, dest, ierror)
  CALL expect(source == rank .AND. dest == rank, 'MPI_CART_SHIFT around')
  CALL MPI_CART_SHIFT(cart, 1, dims(2), source, dest, ierror)
  CALL expect(source == MPI_PROC_NULL .AND. dest == MPI_PROC_NULL, 'MPI_CART_SHIFT over the edge')
  CALL MPI_CART_SUB(cart, (/ .FALSE., .TRUE. /), row, ierror)
  CALL MPI_COMM_SIZE(row, n, ierror)
  CALL expect(n == dims(2), 'MPI_CART_SUB')
  CALL MPI_TOPO_TEST(row, kind, ierror)
  CALL expect(kind == MPI_CART, 'MPI_TOPO_TEST')
  CALL MPI_COMM_FREE(row, ierror)
  CALL MPI_COMM_FREE(cart, ierror)
  indices = (/ 1, 2 /)
  edges = (/ 1, 0 /)
  IF (ranks > 1) THEN
    CALL MPI_GRAPH_CREATE(MPI_COMM_WORLD, 2, indices, edges, .FALSE., graph, ierror)
    IF (graph /= MPI_COMM_NULL) THEN
      CALL MPI_GRAPHDIMS_GET(graph, nodes, number, ierror)
      CALL expect(nodes == 2 .AND. number == 2, 'MPI_GRAPHDIMS_GET')
      CALL MPI_GRAPH_NEIGHBORS(graph, rank, 1, edges, ierror)
      CALL expect(edges(1) == 1 - rank, 'MPI_GRAPH_NEIGHBORS')
      CALL MPI_COMM_FREE(graph, ierror)
    END IF
  END IF

  ! The types of mpi_f08 in module mpi.
  status = (/ 1, 2, 3, 4, 5, 6, 7, 8 /)
  CALL MPI_STATUS_F2F08(status, f08, ierror)
  CALL expect(f08%MPI_SOURCE == 1 .AND. f08%MPI_TAG == 2 .AND. f08%MPI_ERROR == 3, 'MPI_STATUS_F2F08')
  f08%MPI_TAG = 20
  CALL MPI_STATUS_F082F(f08, status, ierror)
  CALL expect(ALL(status == (/ 1, 20, 3, 4, 5, 6, 7, 8 /)), 'MPI_STATUS_F082F')
  one%MPI_VAL = MPI_COMM_WORLD
  other%MPI_VAL = MPI_COMM_SELF
  CALL expect(one /= other .AND. one == one, 'handles of mpi_f08')
  CALL finish
END PROGRAM groups
