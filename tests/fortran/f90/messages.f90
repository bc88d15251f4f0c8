! Messages: blocking and not, statuses, probes, and indices that count from 1.
PROGRAM messages
  USE checks
  IMPLICIT NONE
  INTEGER, PARAMETER :: many = 500
  INTEGER :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, many), requests(many), indices(many)
  INTEGER :: i, number, done, request, peer, message, index
  DOUBLE PRECISION :: out(many), in(many)
  LOGICAL :: flag
  TYPE :: pair
    INTEGER :: first, second
  END TYPE pair
  TYPE(pair) :: one
  TYPE(pair), ALLOCATABLE :: pairs(:)
  CHARACTER(LEN=12) :: word
  CHARACTER(LEN=3) :: words(2)
  INTEGER :: matrix(3, 4), column(4)
  COMPLEX, TARGET :: z(2)
  COMPLEX, POINTER :: part

  CALL begin
  peer = IEOR(rank, 1)
  IF (peer >= ranks) peer = MPI_PROC_NULL

  out = (/ (rank * 1000 + i, i = 1, many) /)
  IF (MOD(rank, 2) == 0) THEN
    CALL MPI_SEND(out, 10, MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, ierror)
    CALL MPI_RECV(in, many, MPI_DOUBLE_PRECISION, peer, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
  ELSE
    CALL MPI_PROBE(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
    CALL expect(status(MPI_SOURCE) == peer .AND. status(MPI_TAG) == 7, 'MPI_PROBE')
    CALL MPI_RECV(in, many, MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, status, ierror)
    CALL MPI_SEND(out, 10, MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, ierror)
  END IF
  IF (peer /= MPI_PROC_NULL) THEN
    CALL expect(status(MPI_SOURCE) == peer .AND. status(MPI_TAG) == 7, 'status of MPI_RECV')
    CALL MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, number, ierror)
    CALL expect(number == 10, 'MPI_GET_COUNT')
    CALL expect(in(1) == peer * 1000 + 1 .AND. in(10) == peer * 1000 + 10, 'data of MPI_RECV')
  END IF

  ! More requests than have room on the stack of the library's copy.
  in = 0
  DO i = 1, many
    CALL MPI_IRECV(in(i), 1, MPI_DOUBLE_PRECISION, peer, i, MPI_COMM_WORLD, requests(i), ierror)
  END DO
  DO i = many, 1, -1
    CALL MPI_SEND(out(i), 1, MPI_DOUBLE_PRECISION, peer, i, MPI_COMM_WORLD, ierror)
  END DO
  CALL MPI_WAITALL(many, requests, statuses, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. ALL(requests == MPI_REQUEST_NULL), 'MPI_WAITALL')
  IF (peer /= MPI_PROC_NULL) THEN
    CALL expect(ALL(in == (/ (peer * 1000 + i, i = 1, many) /)), 'data of MPI_WAITALL')
    CALL expect(ALL(statuses(MPI_TAG, :) == (/ (i, i = 1, many) /)), 'statuses of MPI_WAITALL')
  END IF

  ! The index of the request that completes.
  IF (peer /= MPI_PROC_NULL) THEN
    requests = MPI_REQUEST_NULL
    CALL MPI_IRECV(in, 1, MPI_DOUBLE_PRECISION, peer, 3, MPI_COMM_WORLD, requests(3), ierror)
    CALL MPI_TESTANY(3, requests, index, flag, status, ierror)
    CALL MPI_SEND(out, 1, MPI_DOUBLE_PRECISION, peer, 3, MPI_COMM_WORLD, ierror)
    IF (.NOT. flag) THEN
      CALL expect(index == MPI_UNDEFINED, 'index of MPI_TESTANY without a completion')
      CALL MPI_WAITANY(3, requests, index, status, ierror)
    END IF
    CALL expect(index == 3 .AND. status(MPI_TAG) == 3, 'MPI_WAITANY')
    CALL MPI_WAITANY(3, requests, index, status, ierror)
    CALL expect(index == MPI_UNDEFINED, 'MPI_WAITANY of null requests')

    CALL MPI_IRECV(in, 1, MPI_DOUBLE_PRECISION, peer, 4, MPI_COMM_WORLD, requests(2), ierror)
    CALL MPI_SEND(out, 1, MPI_DOUBLE_PRECISION, peer, 4, MPI_COMM_WORLD, ierror)
    indices = -1
    CALL MPI_WAITSOME(3, requests, done, indices, statuses, ierror)
    CALL expect(done == 1 .AND. indices(1) == 2 .AND. indices(2) == -1, 'MPI_WAITSOME')
    CALL expect(statuses(MPI_TAG, 1) == 4, 'status of MPI_WAITSOME')
    CALL MPI_TESTSOME(3, requests, done, indices, statuses, ierror)
    CALL expect(done == MPI_UNDEFINED, 'MPI_TESTSOME of null requests')

    ! A matched probe.
    CALL MPI_ISEND(out, 5, MPI_DOUBLE_PRECISION, peer, 5, MPI_COMM_WORLD, request, ierror)
    CALL MPI_MPROBE(peer, 5, MPI_COMM_WORLD, message, status, ierror)
    CALL expect(message /= MPI_MESSAGE_NULL, 'MPI_MPROBE')
    CALL MPI_MRECV(in, 5, MPI_DOUBLE_PRECISION, message, status, ierror)
    CALL expect(message == MPI_MESSAGE_NULL .AND. in(5) == peer * 1000 + 5, 'MPI_MRECV')
    CALL MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
    CALL expect(request == MPI_REQUEST_NULL, 'MPI_WAIT')
  END IF

  ! Any type and rank can be a buffer; a blocking call takes array sections with gaps.
  matrix = RESHAPE((/ (i, i = 1, 12) /), (/ 3, 4 /))
  CALL to_myself(matrix(2, :), 4, column)
  CALL expect(ALL(column == (/ 2, 5, 8, 11 /)), 'a row of a matrix')
  one = pair(rank, 17)
  ALLOCATE (pairs(1))
  CALL MPI_SENDRECV(one, 2, MPI_INTEGER, 0, 1, pairs, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status, ierror)
  CALL expect(pairs(1)%first == rank .AND. pairs(1)%second == 17, 'a derived type')
  word = ' '
  words = (/ 'abc', 'def' /)
  CALL MPI_SENDRECV(words, 6, MPI_CHARACTER, 0, 1, word(4:), 9, MPI_CHARACTER, 0, 1, MPI_COMM_SELF, status, ierror)
  CALL expect(word == '   abcdef', 'characters')
  z = (1.0, 2.0)
  part => z(2)
  CALL MPI_SENDRECV((3.0, 4.0), 1, MPI_COMPLEX, 0, 1, part, 1, MPI_COMPLEX, 0, 1, MPI_COMM_SELF, status, ierror)
  CALL expect(z(2) == (3.0, 4.0) .AND. z(1) == (1.0, 2.0), 'a pointer')

  ! A null process completes at once.
  CALL MPI_RECV(in, 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status, ierror)
  CALL expect(status(MPI_SOURCE) == MPI_PROC_NULL .AND. status(MPI_TAG) == MPI_ANY_TAG, 'MPI_PROC_NULL')
  CALL MPI_RECV_INIT(in, 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1, MPI_COMM_WORLD, request, ierror)
  CALL MPI_START(request, ierror)
  CALL MPI_WAITALL(1, (/ request /), MPI_STATUSES_IGNORE, ierror)
  CALL MPI_REQUEST_FREE(request, ierror)
  CALL expect(request == MPI_REQUEST_NULL, 'MPI_REQUEST_FREE')
  CALL finish

CONTAINS

  ! An array of assumed shape, which may have gaps.
  SUBROUTINE to_myself(row, length, into)
    INTEGER, INTENT(IN) :: row(:), length
    INTEGER, INTENT(OUT) :: into(:)
    CALL MPI_SENDRECV(row, length, MPI_INTEGER, 0, 1, into, length, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status, ierror)
  END SUBROUTINE to_myself
END PROGRAM messages
