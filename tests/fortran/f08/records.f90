! Datatypes of BIND(C) and sequence types, by the addresses of their components: their sizes, contents and messages of
! sections, absolute addresses, and negative strides.
PROGRAM records
  USE, INTRINSIC :: ISO_C_BINDING
  USE checks_f08
  IMPLICIT NONE
  TYPE, BIND(C) :: cell
    INTEGER(C_INT) :: id
    REAL(C_DOUBLE) :: place(3)
    CHARACTER(KIND=C_CHAR) :: tag
    LOGICAL(C_BOOL) :: alive
    COMPLEX(C_FLOAT_COMPLEX) :: wave
  END TYPE cell
  TYPE :: named
    SEQUENCE
    INTEGER :: number
    DOUBLE PRECISION :: weight
    CHARACTER(LEN=5) :: name
  END TYPE named
  TYPE(cell), TARGET :: cells(4), got(8)
  TYPE(named) :: out(3), in(3)
  TYPE(MPI_Datatype) :: of_cell, raw, of_named, absolute, backwards, old(5), found(5)
  TYPE(MPI_Status) :: status
  INTEGER(KIND=MPI_ADDRESS_KIND) :: base, next, places(5), lower, extent, addresses(5)
  INTEGER(KIND=MPI_COUNT_KIND) :: bytes, large_lower, large_extent
  INTEGER :: i, size, count, integers, numbers, datatypes, combiner, contents(6), before, after, line(4), two(2)

  CALL begin
  after = MODULO(rank + 1, ranks)
  before = MODULO(rank - 1, ranks)
  CALL MPI_Get_address(cells(1), base)
  CALL MPI_Get_address(cells(1)%id, places(1))
  CALL MPI_Get_address(cells(1)%place, places(2))
  CALL MPI_Get_address(cells(1)%tag, places(3))
  CALL MPI_Get_address(cells(1)%alive, places(4))
  CALL MPI_Get_address(cells(1)%wave, places(5))
  CALL MPI_Get_address(cells(2), next)
  DO i = 1, 5
    places(i) = MPI_Aint_diff(places(i), base)
  END DO
  old = [MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_CHARACTER, MPI_LOGICAL1, MPI_COMPLEX]
  CALL MPI_Type_create_struct(5, [1, 3, 1, 1, 1], places, old, raw)
  CALL MPI_Type_create_resized(raw, 0_MPI_ADDRESS_KIND, MPI_Aint_diff(next, base), of_cell)
  CALL MPI_Type_commit(of_cell)
  CALL MPI_Type_size(of_cell, size)
  CALL MPI_Type_size(of_cell, bytes)
  CALL expect(size == 38 .AND. bytes == 38, 'the size')
  CALL MPI_Type_get_extent(of_cell, lower, extent)
  CALL MPI_Type_get_extent(of_cell, large_lower, large_extent)
  CALL expect(lower == 0 .AND. extent == C_SIZEOF(cells(1)) .AND. large_extent == extent, 'the extent')
  CALL MPI_Type_get_envelope(raw, integers, numbers, datatypes, combiner)
  CALL expect(ALL([integers, numbers, datatypes, combiner] == [6, 5, 5, MPI_COMBINER_STRUCT]), 'the envelope')
  CALL MPI_Type_get_contents(raw, integers, numbers, datatypes, contents, addresses, found)
  CALL expect(ALL(addresses == places) .AND. contents(3) == 3 .AND. ALL(found == old), 'the contents')

  DO i = 1, 4
    cells(i) = cell(rank * 10 + i, [1d0, 2d0, 3d0] * i, CHAR(64 + i), MOD(i, 2) == 1, CMPLX(i, -i))
  END DO
  CALL MPI_Sendrecv(cells(4:1:-1), 4, of_cell, after, 5, got(2:8:2), 4, of_cell, before, 5, MPI_COMM_WORLD, status)
  CALL MPI_Get_count(status, of_cell, count)
  CALL expect(count == 4, 'the count')
  CALL expect(ALL(got(2:8:2)%id == before * 10 + [4, 3, 2, 1]), 'integers')
  CALL expect(ALL(got(2:8:2)%tag == ['D', 'C', 'B', 'A']), 'characters')
  CALL expect(ALL(LOGICAL(got(2:8:2)%alive) .EQV. [.FALSE., .TRUE., .FALSE., .TRUE.]), 'truth values')
  CALL expect(ALL(NINT(AIMAG(got(2:8:2)%wave)) == [-4, -3, -2, -1]), 'complex numbers')
  CALL expect(NINT(got(2)%place(3)) == 12 .AND. NINT(got(8)%place(3)) == 3, 'arrays')

  CALL MPI_Get_address(out(1), base)
  CALL MPI_Get_address(out(1)%number, places(1))
  CALL MPI_Get_address(out(1)%weight, places(2))
  CALL MPI_Get_address(out(1)%name, places(3))
  CALL MPI_Get_address(out(2), next)
  CALL MPI_Type_free(raw)
  CALL MPI_Type_create_struct(3, [1, 1, 5], places(1:3) - base, [MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_CHARACTER], raw)
  CALL MPI_Type_create_resized(raw, 0_MPI_ADDRESS_KIND, next - base, of_named)
  CALL MPI_Type_commit(of_named)
  DO i = 1, 3
    out(i) = named(i, i * 0.5d0, 'ab' // CHAR(64 + i))
    in(i) = named(0, 0, '')
  END DO
  CALL MPI_Sendrecv(out(1:3:2), 2, of_named, rank, 1, in(3:1:-2), 2, of_named, rank, 1, MPI_COMM_WORLD, status)
  CALL expect(in(3)%number == 1 .AND. in(1)%name == 'abC' .AND. in(2)%number == 0, 'records with texts')

  ! Addresses instead of displacements.
  CALL MPI_Get_address(out(1)%weight, places(1))
  CALL MPI_Get_address(out(3)%number, places(2))
  CALL MPI_Type_create_struct(2, [1, 1], places(1:2), [MPI_DOUBLE_PRECISION, MPI_INTEGER], absolute)
  CALL MPI_Type_commit(absolute)
  out(3)%number = 33
  CALL MPI_F_sync_reg(out)
  CALL MPI_Sendrecv(MPI_BOTTOM, 1, absolute, rank, 1, in(2), 1, MPI_DOUBLE_INT, rank, 1, MPI_COMM_WORLD, status)
  line = TRANSFER(in(2), line)
  CALL expect(line(3) == 33, 'MPI_BOTTOM')
  CALL MPI_Type_create_hvector(2, 1, -8_MPI_ADDRESS_KIND, MPI_INTEGER, backwards)
  CALL MPI_Type_commit(backwards)
  line = [1, 2, 3, 4]
  CALL MPI_Sendrecv(line(3), 1, backwards, rank, 1, two, 2, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  CALL expect(ALL(two == [3, 1]), 'a negative stride')
  CALL MPI_Type_free(raw)
  CALL MPI_Type_free(of_cell)
  CALL MPI_Type_free(of_named)
  CALL MPI_Type_free(absolute)
  CALL MPI_Type_free(backwards)
  CALL finish
END PROGRAM records
