! Reduction operations in Fortran get the length and the datatype by address, the datatype as the program's integer.
MODULE operations_of_the_program
  USE mpi
  IMPLICIT NONE
  INTEGER :: last_type = 0, last_length = 0
CONTAINS
  ! Products of matrices of order 2, which do not commute.
  SUBROUTINE times(invec, inoutvec, length, datatype)
    INTEGER :: length, datatype
    DOUBLE PRECISION :: invec(2, 2, length), inoutvec(2, 2, length)
    INTEGER :: i
    last_type = datatype
    last_length = length
    DO i = 1, length
      inoutvec(:, :, i) = MATMUL(invec(:, :, i), inoutvec(:, :, i))
    END DO
  END SUBROUTINE times

  SUBROUTINE larger(invec, inoutvec, length, datatype)
    INTEGER :: length, datatype
    INTEGER :: invec(length), inoutvec(length)
    last_type = datatype
    inoutvec = MAX(invec, inoutvec)
  END SUBROUTINE larger
END MODULE operations_of_the_program

PROGRAM operations
  USE checks
  USE operations_of_the_program
  IMPLICIT NONE
  INTEGER :: op, matrix, i, in(3), out(3), ops(200)
  DOUBLE PRECISION :: mine(2, 2, 2), product(2, 2, 2), expected(2, 2), factor(2, 2)
  LOGICAL :: commutes

  CALL begin
  CALL MPI_TYPE_CONTIGUOUS(4, MPI_DOUBLE_PRECISION, matrix, ierror)
  CALL MPI_TYPE_COMMIT(matrix, ierror)
  CALL MPI_OP_CREATE(times, .FALSE., op, ierror)
  CALL MPI_OP_COMMUTATIVE(op, commutes, ierror)
  CALL expect(.NOT. commutes, 'MPI_OP_COMMUTATIVE')
  mine(:, :, 1) = factor_of(rank)
  mine(:, :, 2) = mine(:, :, 1)
  CALL MPI_ALLREDUCE(mine, product, 2, matrix, op, MPI_COMM_WORLD, ierror)
  expected = factor_of(0)
  DO i = 1, ranks - 1
    factor = factor_of(i)
    expected = MATMUL(expected, factor)
  END DO
  CALL expect(ALL(product(:, :, 1) == expected) .AND. ALL(product(:, :, 2) == expected), 'a product in order')
  IF (ranks > 1) CALL expect(last_type == matrix .OR. last_type == 0, 'the datatype is the one that the program passed')
  CALL MPI_REDUCE_LOCAL(mine, product, 1, matrix, op, ierror)
  CALL expect(last_type == matrix .AND. last_length == 1, 'the datatype of MPI_REDUCE_LOCAL')
  CALL MPI_OP_FREE(op, ierror)
  CALL expect(op == MPI_OP_NULL, 'MPI_OP_FREE')
  CALL MPI_TYPE_FREE(matrix, ierror)

  DO i = 1, 200
    CALL MPI_OP_CREATE(larger, .TRUE., ops(i), ierror)
  END DO
  in = (/ rank, -rank, 5 /)
  DO i = 1, 200
    CALL MPI_ALLREDUCE(in, out, 3, MPI_INTEGER, ops(i), MPI_COMM_WORLD, ierror)
    CALL expect(ALL(out == (/ ranks - 1, 0, 5 /)), 'one of many operations')
    CALL MPI_OP_FREE(ops(i), ierror)
  END DO
  CALL MPI_REDUCE_LOCAL(in, out, 3, MPI_INTEGER, MPI_MIN, ierror)
  CALL expect(out(2) == -rank, 'a predefined operation')
  CALL finish

CONTAINS
  FUNCTION factor_of(number)
    INTEGER, INTENT(IN) :: number
    DOUBLE PRECISION :: factor_of(2, 2)
    factor_of = RESHAPE((/ 1D0, DBLE(number), 1D0, 1D0 /), (/ 2, 2 /))
  END FUNCTION factor_of
END PROGRAM operations
