! Collective operations on array sections with gaps, on constants that stand for buffers, and with procedures of the
! program.
PROGRAM collectives
  USE, INTRINSIC :: ISO_C_BINDING
  USE checks_f08
  IMPLICIT NONE
  INTEGER :: line(20), got(40), table(4, 10), i, j
  INTEGER, ALLOCATABLE :: wide(:, :), flat(:)
  TYPE(MPI_Op) :: longest, longest_c
  LOGICAL :: commutes

  CALL begin
  line = [(100 * rank + i, i = 1, 20)]
  got = -1
  IF (rank == 0) got(1:40:4) = [(i, i = 1, 10)]
  CALL MPI_Bcast(got(1:40:4), 10, MPI_INTEGER, 0, MPI_COMM_WORLD)
  CALL expect(ALL(got(1:40:4) == [(i, i = 1, 10)]) .AND. ALL(got(2:40:4) == -1), 'MPI_Bcast of a section')

  ! The rows of a matrix hold a part for each process.
  ALLOCATE (wide(3, 2 * ranks), flat(2 * ranks))
  wide = 0
  CALL MPI_Allgather(line(5:20:10), 2, MPI_INTEGER, wide(2, :), 2, MPI_INTEGER, MPI_COMM_WORLD)
  CALL expect(ALL(wide(2, :) == [((100 * j + i, i = 5, 15, 10), j = 0, ranks - 1)]), 'MPI_Allgather into a row')
  CALL expect(ALL(wide(1, :) == 0) .AND. ALL(wide(3, :) == 0), 'the rows beside')
  flat = 0
  CALL MPI_Alltoall(wide(2, :), 2, MPI_INTEGER, flat, 2, MPI_INTEGER, MPI_COMM_WORLD)
  CALL expect(ALL(flat == [((100 * rank + i, i = 5, 15, 10), j = 1, ranks)]), 'MPI_Alltoall from a row')
  wide = 0
  CALL MPI_Gather(line(1:3:2), 2, MPI_INTEGER, wide(3, :), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
  IF (rank == 0) CALL expect(ALL(wide(3, 1::2) == [(100 * j + 1, j = 0, ranks - 1)]), 'MPI_Gather into a row')
  got = 0
  CALL MPI_Scatter(wide(3, :), 2, MPI_INTEGER, got(1:3:2), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
  CALL expect(ALL(got(1:3) == [line(1), 0, line(3)]), 'MPI_Scatter from a row')
  IF (rank == 0) THEN
    CALL MPI_Scatter(wide(3, :), 2, MPI_INTEGER, MPI_IN_PLACE, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  ELSE
    CALL MPI_Scatter(MPI_BOTTOM, 0, MPI_DATATYPE_NULL, got(4:6), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    CALL expect(ALL(got(4:5) == [line(1), line(3)]), 'MPI_Scatter')
  END IF

  ! Reductions of sections, into sections, and in place.
  got = 0
  CALL MPI_Allreduce(line(1:20:5), got(4:1:-1), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  CALL expect(ALL(got(1:4) == [(50 * ranks * (ranks - 1) + i * ranks, i = 16, 1, -5)]), 'MPI_Allreduce')
  table = rank
  CALL MPI_Allreduce(MPI_IN_PLACE, table(2, :), 10, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  CALL expect(ALL(table(2, :) == ranks - 1) .AND. ALL(table(1, :) == rank), 'MPI_IN_PLACE beside a section')
  got = 1
  CALL MPI_Reduce_local(line(2:20:6), got(1:7:2), 4, MPI_INTEGER, MPI_SUM)
  CALL expect(ALL(got(1:7:2) == line(2:20:6) + 1) .AND. got(2) == 1, 'MPI_Reduce_local')

  ! Procedures of the program.
  CALL MPI_Op_create(keep_longer, .TRUE., longest)
  CALL MPI_Op_create_c(keep_longer_c, .FALSE., longest_c)
  CALL MPI_Op_commutative(longest, commutes)
  CALL expect(commutes, 'MPI_Op_commutative')
  CALL MPI_Op_commutative(longest_c, commutes)
  CALL expect(.NOT. commutes, 'MPI_Op_commutative')
  got = 0
  CALL MPI_Allreduce([rank, -rank - 1], got, 2, MPI_INTEGER, longest, MPI_COMM_WORLD)
  CALL expect(ALL(got(1:2) == [ranks - 1, -ranks]), 'a procedure of the program')
  CALL MPI_Reduce([rank, -rank - 1], got(3:4), 2_MPI_COUNT_KIND, MPI_INTEGER, longest_c, 0, MPI_COMM_WORLD)
  IF (rank == 0) CALL expect(ALL(got(3:4) == [ranks - 1, -ranks]), 'a procedure for large counts')
  CALL MPI_Op_free(longest)
  CALL MPI_Op_free(longest_c)
  CALL MPI_Barrier(MPI_COMM_WORLD)
  CALL finish

CONTAINS

  SUBROUTINE keep_longer(invec, inoutvec, len, datatype)
    TYPE(C_PTR), VALUE :: invec, inoutvec
    INTEGER :: len
    TYPE(MPI_Datatype) :: datatype
    CALL expect(datatype == MPI_INTEGER, 'the datatype of an operation')
    CALL keep(invec, inoutvec, len)
  END SUBROUTINE keep_longer

  SUBROUTINE keep_longer_c(invec, inoutvec, len, datatype)
    TYPE(C_PTR), VALUE :: invec, inoutvec
    INTEGER(KIND=MPI_COUNT_KIND) :: len
    TYPE(MPI_Datatype) :: datatype
    CALL expect(datatype == MPI_INTEGER, 'the datatype of an operation')
    CALL keep(invec, inoutvec, INT(len))
  END SUBROUTINE keep_longer_c

  SUBROUTINE keep(invec, inoutvec, length)
    TYPE(C_PTR), INTENT(IN) :: invec, inoutvec
    INTEGER, INTENT(IN) :: length
    INTEGER, POINTER :: left(:), right(:)
    CALL C_F_POINTER(invec, left, [length])
    CALL C_F_POINTER(inoutvec, right, [length])
    WHERE (ABS(left) > ABS(right)) right = left
  END SUBROUTINE keep
END PROGRAM collectives
