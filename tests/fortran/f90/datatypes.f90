! All datatypes of Fortran: their sizes, messages, reductions, and the datatypes of precisions and ranges.
PROGRAM datatypes
  USE checks
  USE, INTRINSIC :: ISO_FORTRAN_ENV
  IMPLICIT NONE
  INTEGER, PARAMETER :: types(28) = (/ MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION, &
    MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16, MPI_REAL2, &
    MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, MPI_LOGICAL1, &
    MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER /)
  INTEGER, PARAMETER :: sizes(28) = (/ 1, 4, 4, 4, 8, 8, 16, 1, 2, 4, 8, 16, 2, 4, 8, 16, 4, 8, 16, 32, 1, 2, 4, 8, 16, &
    8, 16, 8 /)
  INTEGER :: i, size, left, right, type, integers(3), addresses(1), types_in(1), number(4), combiner, expected
  INTEGER(KIND=MPI_ADDRESS_KIND) :: lb, extent, places(1)
  CHARACTER :: bytes(64), arrived(64)
  LOGICAL :: logicals(2), any(2)
  REAL :: pair(2), least(2)
  DOUBLE PRECISION :: double_pair(2), greatest(2)
  INTEGER :: integer_pair(2), first(2)
  COMPLEX :: z, total
  DOUBLE COMPLEX :: zz, double_total
  INTEGER(1) :: i1, s1
  INTEGER(2) :: i2, s2
  INTEGER(8) :: i8, s8
  INTEGER(16) :: i16, s16
  REAL(16) :: r16, s_r16
  COMPLEX(16) :: c16, s_c16
  REAL(KIND=SELECTED_REAL_KIND(16, 400)) :: extended, s_extended

  CALL begin
  left = MOD(rank + ranks - 1, ranks)
  right = MOD(rank + 1, ranks)
  DO i = 1, 28
    CALL MPI_TYPE_SIZE(types(i), size, ierror)
    CALL expect(ierror == MPI_SUCCESS .AND. size == sizes(i), 'MPI_TYPE_SIZE')
    CALL MPI_TYPE_GET_EXTENT(types(i), lb, extent, ierror)
    CALL expect(lb == 0 .AND. extent == sizes(i), 'MPI_TYPE_GET_EXTENT')
    bytes = CHAR(rank + i)
    arrived = ' '
    CALL MPI_SENDRECV(bytes, 2, types(i), right, i, arrived, 2, types(i), left, i, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, ierror)
    CALL expect(ALL(arrived(1:2 * size) == CHAR(left + i)) .AND. ALL(arrived(2 * size + 1:) == ' '), 'a message')
  END DO
  CALL MPI_TYPE_MATCH_SIZE(MPI_TYPECLASS_REAL, 8, type, ierror)
  CALL expect(type == MPI_REAL8, 'MPI_TYPE_MATCH_SIZE')

  expected = ranks * (ranks - 1) / 2
  logicals = (/ rank == 0, .FALSE. /)
  CALL MPI_ALLREDUCE(logicals, any, 2, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
  CALL expect(any(1) .AND. .NOT. any(2), 'MPI_LOR')
  CALL MPI_ALLREDUCE(logicals, any, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
  CALL expect((any(1) .EQV. ranks == 1) .AND. .NOT. any(2), 'MPI_LAND')
  CALL MPI_ALLREDUCE(logicals, any, 2, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierror)
  CALL expect(any(1) .AND. .NOT. any(2), 'MPI_LXOR')
  pair = (/ REAL(-rank), REAL(rank) /)
  CALL MPI_ALLREDUCE(pair, least, 1, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, ierror)
  CALL expect(ALL(least == (/ REAL(1 - ranks), REAL(ranks - 1) /)), 'MPI_2REAL')
  double_pair = (/ DBLE(rank), DBLE(rank) /)
  CALL MPI_ALLREDUCE(double_pair, greatest, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
  CALL expect(ALL(greatest == DBLE(ranks - 1)), 'MPI_2DOUBLE_PRECISION')
  integer_pair = (/ 5, rank /)
  CALL MPI_ALLREDUCE(integer_pair, first, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
  CALL expect(ALL(first == (/ 5, 0 /)), 'MPI_2INTEGER takes the least index of equal values')
  z = CMPLX(rank, -rank)
  CALL MPI_ALLREDUCE(z, total, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierror)
  CALL expect(total == CMPLX(expected, -expected), 'MPI_COMPLEX')
  zz = DCMPLX(0D0, 1D0)
  CALL MPI_ALLREDUCE(zz, double_total, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierror)
  CALL expect(ABS(double_total - zz**ranks) < 1D-12, 'MPI_DOUBLE_COMPLEX')
  i1 = INT(rank, 1)
  CALL MPI_ALLREDUCE(i1, s1, 1, MPI_INTEGER1, MPI_MAX, MPI_COMM_WORLD, ierror)
  CALL expect(s1 == ranks - 1, 'MPI_INTEGER1')
  i2 = INT(rank, 2)
  CALL MPI_ALLREDUCE(i2, s2, 1, MPI_INTEGER2, MPI_SUM, MPI_COMM_WORLD, ierror)
  CALL expect(s2 == expected, 'MPI_INTEGER2')
  i8 = 2_8**40 + rank
  CALL MPI_ALLREDUCE(i8, s8, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
  CALL expect(s8 == ranks * 2_8**40 + expected, 'MPI_INTEGER8')
  i16 = 2_16**100 + rank
  CALL MPI_ALLREDUCE(i16, s16, 1, MPI_INTEGER16, MPI_BOR, MPI_COMM_WORLD, ierror)
  CALL expect(s16 >= 2_16**100, 'MPI_INTEGER16')
  r16 = 1.0_16 / 3.0_16
  CALL MPI_ALLREDUCE(r16, s_r16, 1, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. ABS(s_r16 - ranks * r16) < 1.0E-30_16, 'MPI_REAL16')
  r16 = -rank - 0.125_16
  CALL MPI_ALLREDUCE(r16, s_r16, 1, MPI_REAL16, MPI_MIN, MPI_COMM_WORLD, ierror)
  CALL expect(s_r16 == 1 - ranks - 0.125_16, 'MPI_MIN of MPI_REAL16')
  c16 = CMPLX(0.0_16, 1.0_16, 16)
  CALL MPI_ALLREDUCE(c16, s_c16, 1, MPI_COMPLEX32, MPI_PROD, MPI_COMM_WORLD, ierror)
  CALL expect(ABS(s_c16 - c16**ranks) < 1.0E-30_16, 'MPI_COMPLEX32')

  CALL quadruple

  ! Datatypes of precisions and ranges: one handle for each, which has its arguments and cannot be freed.
  CALL MPI_TYPE_CREATE_F90_REAL(16, 400, type, ierror)
  CALL expect(ierror == MPI_SUCCESS, 'MPI_TYPE_CREATE_F90_REAL')
  CALL MPI_TYPE_SIZE(type, size, ierror)
  CALL expect(size == STORAGE_SIZE(extended) / 8, 'the size of a precision')
  extended = rank + 0.5
  CALL MPI_ALLREDUCE(extended, s_extended, 1, type, MPI_SUM, MPI_COMM_WORLD, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. s_extended == expected + 0.5 * ranks, 'a sum of a precision')
  CALL MPI_TYPE_CREATE_F90_REAL(16, 400, i, ierror)
  CALL expect(i == type, 'equal arguments give one handle')
  CALL MPI_TYPE_GET_ENVELOPE(type, number(1), number(2), number(3), combiner, ierror)
  CALL expect(combiner == MPI_COMBINER_F90_REAL .AND. ALL(number(1:3) == (/ 2, 0, 0 /)), 'MPI_TYPE_GET_ENVELOPE')
  CALL MPI_TYPE_GET_CONTENTS(type, 2, 0, 0, integers, places, types_in, ierror)
  CALL expect(ALL(integers(1:2) == (/ 16, 400 /)), 'MPI_TYPE_GET_CONTENTS')
  CALL MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  i = type
  CALL MPI_TYPE_FREE(i, ierror)
  CALL expect(ierror /= MPI_SUCCESS .AND. i == type, 'a datatype that cannot be freed')
  CALL MPI_TYPE_CREATE_F90_REAL(MPI_UNDEFINED, MPI_UNDEFINED, i, ierror)
  CALL expect(ierror /= MPI_SUCCESS, 'neither precision nor range')
  CALL MPI_TYPE_CREATE_F90_INTEGER(9, type, ierror)
  CALL MPI_TYPE_SIZE(type, size, ierror)
  CALL expect(size == STORAGE_SIZE(1_4) / 8, 'MPI_TYPE_CREATE_F90_INTEGER')
  CALL MPI_TYPE_CREATE_F90_COMPLEX(15, MPI_UNDEFINED, type, ierror)
  CALL MPI_TYPE_SIZE(type, size, ierror)
  CALL expect(size == 16, 'MPI_TYPE_CREATE_F90_COMPLEX')
  ! As a part of another datatype it keeps its handle.
  CALL MPI_TYPE_CONTIGUOUS(3, type, i, ierror)
  CALL MPI_TYPE_GET_CONTENTS(i, 1, 0, 1, integers, places, types_in, ierror)
  CALL expect(integers(1) == 3 .AND. types_in(1) == type, 'the contents of a derived datatype')
  CALL MPI_TYPE_FREE(i, ierror)
  addresses = 0
  CALL finish

CONTAINS

  ! Sums and products of quadruple precision are rounded as the compiler's.
  SUBROUTINE quadruple
    INTEGER, PARAMETER :: many = 2000
    REAL(16) :: a(many), b(many), got(many)
    REAL(16) :: scale(many)
    COMPLEX(16) :: x(many), y(many), product(many)
    INTEGER :: j
    CALL RANDOM_NUMBER(a)
    CALL RANDOM_NUMBER(b)
    CALL RANDOM_NUMBER(scale)
    DO j = 1, many
      a(j) = (a(j) - 0.5_16) * 2.0_16**INT(scale(j) * 60 - 30)
      b(j) = b(j) - 0.5_16
    END DO
    a(1:4) = (/ 2.0_16**(-16382), 2.0_16**16383, 2.0_16**(-16440), 1.0_16 /)
    b(1:4) = (/ 0.75_16, 2.0_16**16382, 0.3_16, -1.0_16 + 2.0_16**(-112) /)
    got = b
    CALL MPI_REDUCE_LOCAL(a, got, many, MPI_REAL16, MPI_SUM, ierror)
    CALL expect(ALL(got == a + b), 'sums of MPI_REAL16')
    got = b
    CALL MPI_REDUCE_LOCAL(a, got, many, MPI_REAL16, MPI_PROD, ierror)
    CALL expect(ALL(got(3:) == a(3:) * b(3:)) .AND. got(1) == a(1) * b(1), 'products of MPI_REAL16')
    CALL expect(got(2) > HUGE(got(2)), 'a product beyond the range')
    got = b
    CALL MPI_REDUCE_LOCAL(a, got, many, MPI_REAL16, MPI_MAX, ierror)
    CALL expect(ALL(got == MAX(a, b)), 'maxima of MPI_REAL16')
    x = CMPLX(a(5), b(5), 16)
    y = CMPLX(b, scale, 16)
    product = y
    CALL MPI_REDUCE_LOCAL(x, product, many, MPI_COMPLEX32, MPI_SUM, ierror)
    CALL expect(ALL(product == x + y), 'sums of MPI_COMPLEX32')
  END SUBROUTINE quadruple
END PROGRAM datatypes
