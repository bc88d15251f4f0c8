! Variables that stand for constants of C, recognised by their addresses.
PROGRAM sentinels
  USE checks
  IMPLICIT NONE
  INTEGER :: value(4), got(4), graph, request, type, sources(1), weights(1), i, count
  INTEGER :: degree_in, degree_out
  INTEGER(KIND=MPI_ADDRESS_KIND) :: address
  LOGICAL :: weighted

  CALL begin
  value = rank + 1
  CALL MPI_ALLREDUCE(MPI_IN_PLACE, value, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  CALL expect(ALL(value == ranks * (ranks + 1) / 2), 'MPI_IN_PLACE')

  ! Absolute addresses.
  value = rank
  CALL MPI_GET_ADDRESS(value, address, ierror)
  CALL MPI_TYPE_CREATE_HINDEXED(1, (/ 4 /), (/ address /), MPI_INTEGER, type, ierror)
  CALL MPI_TYPE_COMMIT(type, ierror)
  IF (rank == 0) value = 42
  CALL MPI_BCAST(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, ierror)
  CALL MPI_F_SYNC_REG(value)
  CALL expect(ALL(value == 42), 'MPI_BOTTOM')
  CALL MPI_TYPE_FREE(type, ierror)
  CALL expect(type == MPI_DATATYPE_NULL, 'MPI_TYPE_FREE')

  CALL MPI_ISEND(value, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request, ierror)
  CALL MPI_RECV(got, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  CALL MPI_WAITALL(1, (/ request /), MPI_STATUSES_IGNORE, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. got(1) == 42, 'MPI_STATUS_IGNORE')

  ! Graphs without weights, and of no edges.
  CALL MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, (/ rank /), MPI_UNWEIGHTED, 1, (/ rank /), MPI_UNWEIGHTED, &
    MPI_INFO_NULL, .FALSE., graph, ierror)
  CALL MPI_DIST_GRAPH_NEIGHBORS_COUNT(graph, degree_in, degree_out, weighted, ierror)
  CALL expect(degree_in == 1 .AND. degree_out == 1 .AND. .NOT. weighted, 'MPI_UNWEIGHTED')
  CALL MPI_DIST_GRAPH_NEIGHBORS(graph, 1, sources, MPI_UNWEIGHTED, 1, sources, MPI_UNWEIGHTED, ierror)
  CALL expect(sources(1) == rank, 'MPI_DIST_GRAPH_NEIGHBORS')
  CALL MPI_COMM_FREE(graph, ierror)
  CALL MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, sources, MPI_WEIGHTS_EMPTY, &
    MPI_INFO_NULL, .FALSE., graph, ierror)
  CALL MPI_DIST_GRAPH_NEIGHBORS_COUNT(graph, degree_in, degree_out, weighted, ierror)
  CALL expect(degree_in == 0 .AND. degree_out == 0 .AND. weighted, 'MPI_WEIGHTS_EMPTY')
  CALL MPI_COMM_FREE(graph, ierror)
  CALL MPI_DIST_GRAPH_CREATE_ADJACENT(MPI_COMM_WORLD, 1, (/ rank /), (/ 5 /), 1, (/ rank /), (/ 5 /), &
    MPI_INFO_NULL, .FALSE., graph, ierror)
  CALL MPI_DIST_GRAPH_NEIGHBORS(graph, 1, sources, weights, 1, sources, weights, ierror)
  CALL expect(weights(1) == 5, 'weights')
  CALL MPI_COMM_FREE(graph, ierror)

  ! A buffer that the library allocates.
  CALL MPI_BUFFER_ATTACH(MPI_BUFFER_AUTOMATIC, 0, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_BUFFER_AUTOMATIC')
  CALL MPI_BSEND(value, 4, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, ierror)
  CALL MPI_RECV(got, 4, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  CALL expect(ALL(got == value), 'MPI_BSEND')
  CALL MPI_BUFFER_DETACH(value, count, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_BUFFER_DETACH')
  i = 0
  CALL MPI_PCONTROL(i)
  CALL MPI_PCONTROL(-5)
  CALL finish
END PROGRAM sentinels
