! Array sections with gaps as buffers of blocking calls, on both sides: ranks 1 to 4, strides of both signs, no
! elements, a part of a section, pointers, arguments of assumed shape, elements of several items and items of several
! elements.
PROGRAM sections
  USE checks_f08
  IMPLICIT NONE
  TYPE :: particle
    SEQUENCE
    DOUBLE PRECISION :: place
    INTEGER :: kind
  END TYPE particle
  TYPE(particle) :: particles(12), others(12)
  TYPE(MPI_Datatype) :: pairs, triples, gaps, of_particle, resized
  TYPE(MPI_Status) :: status
  INTEGER :: line(30), got(30), expected(30), plane(6, 5), cube(4, 5, 6), four(3, 4, 3, 4), i, j, length
  INTEGER, TARGET :: memory(40)
  INTEGER, POINTER :: view(:)
  COMPLEX :: waves(8)
  REAL :: parts(8)
  INTEGER(KIND=MPI_ADDRESS_KIND) :: places(3)

  CALL begin
  line = [(1000 + i, i = 1, 30)]

  ! The sender's section arrives in array element order.
  CALL exchange_line(line(2:29:3), [(1000 + i, i = 2, 29, 3)], 'a stride')
  CALL exchange_line(line(20:1:-4), [(1000 + i, i = 20, 1, -4)], 'a negative stride')
  CALL exchange_line(line(5:4:2), [INTEGER ::], 'no elements')
  CALL exchange_line(line(7:7:2), [1007], 'one element')
  CALL exchange_line(line([1, 5, 2]), [1001, 1005, 1002], 'a vector subscript, which the compiler copies')
  memory = [(i, i = 1, 40)]
  view => memory(40:2:-2)
  CALL exchange_line(view(1:20:5), [40, 30, 20, 10], 'a section of a pointer')

  ! The receiver's section: other elements stay as they are.
  got = -1
  expected = -1
  CALL MPI_Sendrecv(line, 7, MPI_INTEGER, rank, 1, got(3:30:4), 7, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, ierror)
  expected(3:30:4) = line(1:7)
  CALL expect(ierror == MPI_SUCCESS .AND. ALL(got == expected), 'a section that receives')
  CALL MPI_Get_count(status, MPI_INTEGER, length)
  CALL expect(length == 7, 'the count of a section that receives')
  got = -1
  expected = -1
  CALL MPI_Sendrecv(line, 3, MPI_INTEGER, rank, 1, got(30:1:-5), 6, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
  expected(30:20:-5) = line(1:3)
  CALL expect(ALL(got == expected), 'a section that receives fewer elements')
  got = [(i, i = 1, 30)]
  expected = got
  CALL MPI_Sendrecv_replace(got(2:20:6), 3, MPI_INTEGER, rank, 1, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  CALL expect(ALL(got == expected), 'a section that is replaced by itself')

  ! More dimensions, whole and in part.
  plane = RESHAPE([(i, i = 1, 30)], [6, 5])
  cube = RESHAPE([(i, i = 1, 120)], [4, 5, 6])
  four = RESHAPE([(i, i = 1, 144)], [3, 4, 3, 4])
  CALL exchange_plane(plane(1:6:2, 5:1:-2))
  CALL exchange_plane(plane(2:5, 2:4))
  CALL exchange_plane(cube(3, :, 1:6:3))
  CALL exchange_cube(cube(1:4:3, 5:1:-1, 2:6:2))
  CALL exchange_cube(four(2, 1:4:2, :, 4:1:-3))
  CALL exchange_four(four(1:3:2, 2:4, 3:1:-2, ::3))

  ! A part of a section with two dimensions, and a datatype of two elements for each of them.
  got = 0
  CALL MPI_Sendrecv(plane(1:6:2, 1:5:2), 5, MPI_INTEGER, rank, 1, got, 30, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
  CALL expect(ALL(got(1:6) == [1, 3, 5, 13, 15, 0]), 'a part of a section')
  CALL MPI_Type_contiguous(2, MPI_INTEGER, pairs)
  CALL MPI_Type_contiguous(3, pairs, triples)
  CALL MPI_Type_commit(triples)
  got = 0
  CALL MPI_Sendrecv(plane(1:6:2, 1:5:2), 1, triples, rank, 1, got, 30, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
  CALL expect(ALL(got(1:7) == [1, 3, 5, 13, 15, 17, 0]), 'an item of several elements')

  ! Elements of two items: the parts of complex numbers.
  waves = [(CMPLX(i, -i), i = 1, 8)]
  CALL MPI_Sendrecv(waves(2:8:3), 5, MPI_REAL, rank, 1, parts, 8, MPI_REAL, rank, 1, MPI_COMM_WORLD, status)
  CALL expect(ALL(parts(1:5) == [2., -2., 5., -5., 8.]), 'an element of two items')

  ! A datatype with gaps within an item, and one whose items no element holds: both by displacements in the section.
  CALL MPI_Get_address(particles(1)%place, places(1))
  CALL MPI_Get_address(particles(1)%kind, places(2))
  CALL MPI_Get_address(particles(2), places(3))
  CALL MPI_Type_create_struct(2, [1, 1], places(1:2) - places(1), [MPI_DOUBLE_PRECISION, MPI_INTEGER], of_particle)
  CALL MPI_Type_create_resized(of_particle, 0_MPI_ADDRESS_KIND, places(3) - places(1), resized)
  CALL MPI_Type_commit(resized)
  particles = [(particle(i * 1.5d0, i), i = 1, 12)]
  others = particle(0, 0)
  CALL MPI_Sendrecv(particles(12:1:-3), 4, resized, rank, 1, others(1:12:3), 4, resized, rank, 1, &
      MPI_COMM_WORLD, status)
  CALL expect(ALL(others(1:12:3)%kind == [12, 9, 6, 3]) .AND. ALL(others(2:12:3)%kind == 0), 'items with gaps')
  CALL MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
  CALL MPI_Type_commit(gaps)
  got = 0
  CALL MPI_Sendrecv(line(1:30:3), 2, gaps, rank, 1, got, 30, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
  ! An item is the elements 1 and 3 of three, so the second one begins with the fourth.
  CALL expect(ALL(got(1:5) == [line(1), line(7), line(10), line(16), 0]), 'a vector over a section')

  ! Fewer elements than the call describes.
  CALL MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  CALL MPI_Send(line(1:9:2), 6, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierror)
  CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a section that is too short')

  DO j = 1, 100
    CALL MPI_Sendrecv(line(2:29:3), 10, MPI_INTEGER, rank, 1, got(30:1:-3), 10, MPI_INTEGER, rank, 1, &
        MPI_COMM_WORLD, status)
  END DO
  CALL expect(ALL(got(30:1:-3) == line(2:29:3)), 'many calls')
  CALL MPI_Type_free(pairs)
  CALL MPI_Type_free(triples)
  CALL MPI_Type_free(gaps)
  CALL MPI_Type_free(of_particle)
  CALL MPI_Type_free(resized)
  CALL finish

CONTAINS

  SUBROUTINE exchange_line(sent, wanted, what)
    INTEGER, INTENT(IN) :: sent(:), wanted(:)
    CHARACTER(LEN=*), INTENT(IN) :: what
    INTEGER :: next, previous
    next = MODULO(rank + 1, ranks)
    previous = MODULO(rank - 1, ranks)
    got = -1
    CALL MPI_Sendrecv(sent, SIZE(sent), MPI_INTEGER, next, 1, got, 30, MPI_INTEGER, previous, 1, MPI_COMM_WORLD, &
        status, ierror)
    CALL MPI_Get_count(status, MPI_INTEGER, length)
    CALL expect(ierror == MPI_SUCCESS .AND. length == SIZE(wanted), what // ': length')
    CALL expect(ALL(got(1:SIZE(wanted)) == wanted), what)
  END SUBROUTINE exchange_line

  SUBROUTINE exchange_plane(sent)
    INTEGER, INTENT(IN) :: sent(:, :)
    CALL exchange_all(sent, SIZE(sent), RESHAPE(sent, [SIZE(sent)]), 'two dimensions')
  END SUBROUTINE exchange_plane

  SUBROUTINE exchange_cube(sent)
    INTEGER, INTENT(IN) :: sent(:, :, :)
    CALL exchange_all(sent, SIZE(sent), RESHAPE(sent, [SIZE(sent)]), 'three dimensions')
  END SUBROUTINE exchange_cube

  SUBROUTINE exchange_four(sent)
    INTEGER, INTENT(IN) :: sent(:, :, :, :)
    CALL exchange_all(sent, SIZE(sent), RESHAPE(sent, [SIZE(sent)]), 'four dimensions')
  END SUBROUTINE exchange_four

  SUBROUTINE exchange_all(sent, number, wanted, what)
    TYPE(*), INTENT(IN) :: sent(..)
    INTEGER, INTENT(IN) :: number, wanted(:)
    CHARACTER(LEN=*), INTENT(IN) :: what
    INTEGER :: arrived(200), count
    DO count = number, 0, -1
      arrived = -1
      CALL MPI_Sendrecv(sent, count, MPI_INTEGER, rank, 1, arrived, 200, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
          MPI_STATUS_IGNORE)
      CALL expect(ALL(arrived(1:count) == wanted(1:count)) .AND. ALL(arrived(count + 1:) == -1), what)
    END DO
  END SUBROUTINE exchange_all
END PROGRAM sections
