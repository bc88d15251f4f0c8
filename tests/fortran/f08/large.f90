! Large counts: arguments of the kind MPI_COUNT_KIND by the same generic names, and by the names that procedures need.
PROGRAM large
  USE checks_f08
  IMPLICIT NONE
  INTEGER :: out(10), in(20), combiner, i, integers(1)
  INTEGER(KIND=MPI_COUNT_KIND) :: count, bytes, sizes(4), counts(2)
  INTEGER(KIND=MPI_COUNT_KIND), PARAMETER :: billions = 3000000000_MPI_COUNT_KIND
  INTEGER(KIND=MPI_ADDRESS_KIND) :: addresses(2), low, extent
  TYPE(MPI_Datatype) :: many, structure, types(2), found(2)
  TYPE(MPI_Status) :: status
  TYPE(MPI_Request) :: request

  CALL begin
  out = [(i, i = 1, 10)]
  CALL MPI_Isend(out, 10_MPI_COUNT_KIND, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request)
  CALL MPI_Recv(in(1:20:2), 10_MPI_COUNT_KIND, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
  CALL MPI_Wait(request, MPI_STATUS_IGNORE)
  CALL MPI_Get_count(status, MPI_INTEGER, count)
  CALL expect(ALL(in(1:20:2) == out) .AND. count == 10, 'a message')

  CALL MPI_Type_contiguous(billions, MPI_INTEGER, many)
  CALL MPI_Type_size(many, bytes)
  CALL expect(bytes == 4 * billions, 'MPI_Type_contiguous')
  CALL MPI_Type_get_extent(many, low, extent)
  CALL expect(low == 0 .AND. extent == 4 * billions, 'MPI_Type_get_extent')
  CALL MPI_Type_get_envelope(many, sizes(1), sizes(2), sizes(3), sizes(4), combiner)
  CALL expect(combiner == MPI_COMBINER_CONTIGUOUS .AND. ALL(sizes == [0, 0, 1, 1]), 'MPI_Type_get_envelope')
  CALL MPI_Type_get_contents(many, sizes(1), sizes(2), sizes(3), sizes(4), integers, addresses, counts, found)
  CALL expect(counts(1) == billions .AND. found(1) == MPI_INTEGER, 'MPI_Type_get_contents')
  CALL MPI_Type_free(many)
  types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  CALL MPI_Type_create_struct(2_MPI_COUNT_KIND, [1_MPI_COUNT_KIND, 2_MPI_COUNT_KIND], &
      [0_MPI_COUNT_KIND, 8_MPI_COUNT_KIND], types, structure)
  CALL MPI_Type_size(structure, bytes)
  CALL expect(bytes == 20, 'MPI_Type_create_struct')
  CALL MPI_Type_free(structure)
  CALL MPI_Status_set_elements(status, MPI_INTEGER, billions)
  CALL MPI_Get_elements(status, MPI_INTEGER, count)
  CALL expect(count == billions, 'MPI_Status_set_elements')
  in(1:2) = -1
  CALL MPI_Allgather([rank], 1_MPI_COUNT_KIND, MPI_INTEGER, in, 1_MPI_COUNT_KIND, MPI_INTEGER, MPI_COMM_WORLD)
  CALL expect(ALL(in(1:ranks) == [(i, i = 0, ranks - 1)]), 'MPI_Allgather')
  CALL finish
END PROGRAM large
