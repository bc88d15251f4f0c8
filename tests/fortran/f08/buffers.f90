! Buffers of every kind: scalars, texts, sections of texts, components, constants, expressions, allocatable variables and
! pointers, arguments of assumed type, shape and size, absent ones, and polymorphic variables.
MODULE passing
  USE checks_f08
  IMPLICIT NONE

CONTAINS

  ! Sends a buffer to itself.
  SUBROUTINE bounce(buffer, count, datatype, what)
    TYPE(*), ASYNCHRONOUS :: buffer(..)
    INTEGER, INTENT(IN) :: count
    TYPE(MPI_Datatype), INTENT(IN) :: datatype
    CHARACTER(LEN=*), INTENT(IN) :: what
    TYPE(MPI_Status) :: status
    INTEGER :: arrived
    CALL MPI_Sendrecv_replace(buffer, count, datatype, rank, 1, rank, 1, MPI_COMM_WORLD, status, ierror)
    CALL MPI_Get_count(status, datatype, arrived)
    CALL expect(ierror == MPI_SUCCESS .AND. arrived == count, what)
  END SUBROUTINE bounce

  SUBROUTINE assumed_shape(from, to)
    INTEGER, INTENT(IN) :: from(:, :)
    INTEGER, INTENT(OUT) :: to(:)
    CALL MPI_Sendrecv(from, SIZE(from), MPI_INTEGER, rank, 1, to, SIZE(to), MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
        MPI_STATUS_IGNORE)
  END SUBROUTINE assumed_shape

  SUBROUTINE assumed_size(array, count)
    INTEGER :: array(*)
    INTEGER, INTENT(IN) :: count
    CALL bounce(array(1:count), count, MPI_INTEGER, 'a part of an array of assumed size')
    CALL MPI_Bcast(array, count, MPI_INTEGER, 0, MPI_COMM_SELF)
    CALL MPI_Bcast(array(2), count - 1, MPI_INTEGER, 0, MPI_COMM_SELF)
  END SUBROUTINE assumed_size

  SUBROUTINE explicit_shape(array, n)
    INTEGER, INTENT(IN) :: n
    INTEGER :: array(n, n)
    CALL bounce(array, n * n, MPI_INTEGER, 'an array of explicit shape')
    CALL bounce(array(2, :), n, MPI_INTEGER, 'a row of it')
  END SUBROUTINE explicit_shape

  SUBROUTINE optional_one(array)
    INTEGER, INTENT(INOUT), OPTIONAL :: array(:)
    IF (PRESENT(array)) CALL bounce(array, SIZE(array), MPI_INTEGER, 'an optional argument')
  END SUBROUTINE optional_one
END MODULE passing

PROGRAM buffers
  USE, INTRINSIC :: ISO_FORTRAN_ENV, ONLY: INT8, INT64, REAL128
  USE passing
  IMPLICIT NONE
  TYPE :: pair
    SEQUENCE
    INTEGER :: first, second
  END TYPE pair
  TYPE :: node
    INTEGER :: value
    INTEGER, ALLOCATABLE :: list(:)
    REAL :: place(4)
  END TYPE node
  INTEGER :: i, table(4, 6), got(24), line(9)
  INTEGER, ALLOCATABLE :: some(:), none(:)
  INTEGER, POINTER :: view(:), square(:, :)
  INTEGER, TARGET :: memory(40)
  CHARACTER(LEN=10) :: text, words(3)
  CHARACTER(LEN=:), ALLOCATABLE :: any_length
  LOGICAL :: truths(4), all_truths(4)
  COMPLEX(KIND=KIND(1d0)) :: waves(3), products(3)
  REAL(KIND=REAL128) :: long(2), sums(2)
  INTEGER(KIND=INT64) :: large(2)
  INTEGER(KIND=INT8) :: small(5)
  TYPE(pair) :: pairs(3), others(3)
  TYPE(node) :: one
  TYPE(MPI_Status) :: status
  CLASS(*), ALLOCATABLE :: anything

  CALL begin
  table = RESHAPE([(i, i = 1, 24)], [4, 6])
  CALL assumed_shape(table, got)
  CALL expect(ALL(got == [(i, i = 1, 24)]), 'an argument of assumed shape')
  CALL assumed_shape(table(4:1:-2, 1:6:3), got(1:4))
  CALL expect(ALL(got(1:4) == [4, 2, 16, 14]), 'a section as an argument of assumed shape')
  CALL assumed_shape(TRANSPOSE(table), got)
  CALL expect(got(2) == 5, 'the value of a function')
  i = 7
  CALL bounce(i, 1, MPI_INTEGER, 'a scalar')

  text = 'hello'
  CALL bounce(text, 10, MPI_CHARACTER, 'a text')
  CALL bounce(text(2:4), 3, MPI_CHARACTER, 'a part of a text')
  CALL expect(text == 'hello', 'a text that is replaced by itself')
  CALL MPI_Sendrecv('literal', 7, MPI_CHARACTER, rank, 2, text, 10, MPI_CHARACTER, rank, 2, MPI_COMM_WORLD, status)
  CALL expect(text(1:7) == 'literal', 'a constant text')
  words = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc']
  CALL bounce(words(3:1:-2), 20, MPI_CHARACTER, 'a section of texts')
  words = 'xxxxxxxxxx'
  CALL MPI_Sendrecv('123456', 6, MPI_CHARACTER, rank, 2, words(:)(3:4), 6, MPI_CHARACTER, rank, 2, MPI_COMM_WORLD, &
      status)
  CALL expect(words(2) == 'xx34xxxxxx' .AND. words(3) == 'xx56xxxxxx', 'a section of parts of texts')
  CALL MPI_Bcast(words(1:3:2)(2:2), 2, MPI_CHARACTER, 0, MPI_COMM_SELF)
  ALLOCATE (CHARACTER(LEN=20) :: any_length)
  any_length = 'deferred length text'
  CALL bounce(any_length, LEN(any_length), MPI_CHARACTER, 'a text of deferred length')

  ALLOCATE (some(5), none(0))
  some = 3
  CALL bounce(some, 5, MPI_INTEGER, 'an allocatable variable')
  CALL bounce(none, 0, MPI_INTEGER, 'an allocatable variable without elements')
  memory = [(i, i = 1, 40)]
  view => memory(40:1:-3)
  CALL bounce(view, SIZE(view), MPI_INTEGER, 'a pointer')
  CALL expect(view(2) == 37, 'a pointer with a stride')
  square(0:3, -1:3) => memory(21:40)
  CALL bounce(square(0:3:3, -1:3:2), 6, MPI_INTEGER, 'a pointer with other bounds')
  CALL expect(ALL(memory == [(i, i = 1, 40)]), 'the target of a pointer')

  truths = [.TRUE., .FALSE., .TRUE., .TRUE.]
  CALL MPI_Allreduce(truths, all_truths, 4, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  CALL expect(ALL(truths .EQV. all_truths), 'truth values')
  waves = [(CMPLX(i, 2 * i, KIND(1d0)), i = 1, 3)]
  CALL MPI_Allreduce(waves, products, 3, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_SELF)
  CALL expect(ALL(ABS(waves - products) < 1d-9), 'complex numbers')
  long = 1
  CALL MPI_Allreduce(long, sums, 2, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD)
  CALL expect(ALL(NINT(sums) == ranks), 'real numbers of 16 bytes')
  large = 2_INT64**40
  CALL bounce(large, 2, MPI_INTEGER8, 'integers of 8 bytes')
  small = 5
  CALL MPI_Allreduce(MPI_IN_PLACE, small(1:5:2), 3, MPI_INTEGER1, MPI_MAX, MPI_COMM_SELF)
  CALL expect(ALL(small == 5), 'integers of 1 byte')

  pairs = [(pair(i, 10 * i), i = 1, 3)]
  others = pair(0, 0)
  CALL MPI_Sendrecv(pairs%second, 3, MPI_INTEGER, rank, 1, others%first, 3, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
  CALL expect(ALL(others%first == [10, 20, 30]) .AND. ALL(others%second == 0), 'components')
  CALL MPI_Allreduce(pairs, others, 3, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_SELF)
  CALL expect(ALL(others%second == [10, 20, 30]), 'a sequence type')
  one%value = 4
  one%list = [1, 2, 3, 4]
  one%place = 1.5
  CALL bounce(one%list, 4, MPI_INTEGER, 'an allocatable component')
  CALL bounce(one%list(4:1:-2), 2, MPI_INTEGER, 'a section of it')
  CALL bounce(one%place, 4, MPI_REAL, 'an array component')
  CALL bounce(one%value, 1, MPI_INTEGER, 'a component')
  CALL expect(ALL(one%list == [1, 2, 3, 4]), 'a component that is replaced by itself')
  ALLOCATE (anything, SOURCE=17)
  SELECT TYPE (anything)
  TYPE IS (INTEGER)
    CALL bounce(anything, 1, MPI_INTEGER, 'a polymorphic variable')
  END SELECT

  line = 1
  CALL assumed_size(line, 9)
  CALL explicit_shape(line, 3)
  CALL optional_one(line(1:9:2))
  CALL optional_one
  CALL MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, rank, 1, got, 3, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  CALL expect(ALL(got(1:3) == [1, 2, 3]), 'a constructor')
  CALL MPI_Sendrecv((table(2, :)), 6, MPI_INTEGER, rank, 1, got, 6, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
  CALL expect(ALL(got(1:6) == table(2, :)), 'an expression')
  CALL finish
END PROGRAM buffers
