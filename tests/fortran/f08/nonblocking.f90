! Array sections with gaps as buffers of calls that do not block: started, persistent, matched and partitioned
! operations.
PROGRAM nonblocking
  USE checks_f08
  IMPLICIT NONE
  INTEGER, ASYNCHRONOUS :: out(30), in(30)
  INTEGER :: expected(30), partner, i, times, count
  TYPE(MPI_Request) :: requests(4)
  TYPE(MPI_Status) :: statuses(4), status
  TYPE(MPI_Message) :: message
  LOGICAL :: flag

  CALL begin
  partner = IEOR(rank, 1)
  IF (partner >= ranks) partner = rank
  out = [(100 * rank + i, i = 1, 30)]
  CALL start_and_leave(out, in, requests)
  CALL MPI_Waitall(2, requests(1:2), statuses(1:2))
  expected = -1
  expected(1:30:6) = [(100 * partner + i, i = 30, 10, -5)]
  CALL MPI_F_sync_reg(in)
  CALL expect(ALL(in == expected), 'sections of MPI_Isend and MPI_Irecv, when their procedure has returned')

  ! A list of requests with gaps.
  in = 0
  requests = MPI_REQUEST_NULL
  CALL MPI_Irecv(in(2:30:7), 5, MPI_INTEGER, partner, 5, MPI_COMM_WORLD, requests(1))
  CALL MPI_Issend(out(30:1:-9), 4, MPI_INTEGER, partner, 5, MPI_COMM_WORLD, requests(3))
  CALL MPI_Waitall(2, requests(1:3:2), statuses(1:3:2))
  CALL MPI_Get_count(statuses(1), MPI_INTEGER, count)
  CALL expect(count == 4 .AND. ALL(requests == MPI_REQUEST_NULL), 'a list of requests with gaps')
  CALL expect(ALL(in(2:23:7) == [(100 * partner + i, i = 30, 3, -9)]) .AND. in(30) == 0, 'a shorter message')

  ! Persistent operations use the section at each start.
  CALL MPI_Send_init(out(1:30:3), 10, MPI_INTEGER, partner, 6, MPI_COMM_WORLD, requests(1))
  CALL MPI_Recv_init(in(30:1:-3), 10, MPI_INTEGER, partner, 6, MPI_COMM_WORLD, requests(2))
  DO times = 1, 5
    out = [(1000 * times + 100 * rank + i, i = 1, 30)]
    in = -1
    expected = -1
    expected(30:1:-3) = [(1000 * times + 100 * partner + i, i = 1, 30, 3)]
    CALL MPI_Startall(2, requests)
    CALL MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CALL MPI_F_sync_reg(in)
    CALL expect(ALL(in == expected), 'persistent operations')
  END DO
  CALL MPI_Request_free(requests(1))
  CALL MPI_Request_free(requests(2))

  ! Matched probes.
  in = 0
  CALL MPI_Isend(out(2:30:4), 3, MPI_INTEGER, partner, 7, MPI_COMM_WORLD, requests(1))
  CALL MPI_Mprobe(partner, 7, MPI_COMM_WORLD, message, status)
  CALL MPI_Imrecv(in(1:5:2), 3, MPI_INTEGER, message, requests(2))
  CALL MPI_Waitall(2, requests, statuses)
  CALL MPI_F_sync_reg(in)
  CALL expect(message == MPI_MESSAGE_NULL .AND. ALL(in(1:5) == in(1) + [0, -in(1), 4, -in(1), 8]), 'MPI_Imrecv')
  CALL MPI_Isend(out(2:30:4), 3, MPI_INTEGER, partner, 7, MPI_COMM_WORLD, requests(1))
  CALL MPI_Improbe(partner, 7, MPI_COMM_WORLD, flag, message, status)
  DO WHILE (.NOT. flag)
    CALL MPI_Improbe(partner, 7, MPI_COMM_WORLD, flag, message, status)
  END DO
  in = 0
  CALL MPI_Mrecv(in(9:1:-4), 3, MPI_INTEGER, message, status)
  CALL MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  CALL expect(in(1) - in(5) == 4 .AND. in(5) - in(9) == 4 .AND. in(2) == 0, 'MPI_Mrecv')

  ! The names of arguments are those of the standard.
  CALL MPI_Isend(buf=out, count=1, datatype=MPI_INTEGER, dest=rank, tag=8, comm=MPI_COMM_WORLD, request=requests(1))
  CALL MPI_Irecv(buf=in, count=1, datatype=MPI_INTEGER, source=rank, tag=8, comm=MPI_COMM_WORLD, request=requests(2))
  CALL MPI_Waitany(count=2, array_of_requests=requests, index=i, status=status, ierror=ierror)
  DO
    CALL MPI_Testany(count=2, array_of_requests=requests, index=count, flag=flag, status=status)
    IF (flag) EXIT
  END DO
  CALL expect(i + count == 3 .AND. in(1) == out(1), 'MPI_Waitany and MPI_Testany')
  CALL MPI_Request_get_status_any(count=2, array_of_requests=requests, index=i, flag=flag, status=status)
  CALL expect(flag .AND. i == MPI_UNDEFINED, 'MPI_Request_get_status_any')
  CALL MPI_Status_set_error(status=status, err=MPI_ERR_TAG)
  CALL MPI_Status_get_error(status=status, err=i)
  CALL expect(i == MPI_ERR_TAG, 'MPI_Status_get_error')

  ! Contiguous partitions.
  CALL MPI_Psend_init(out, 3, 10_MPI_COUNT_KIND, MPI_INTEGER, partner, 9, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
  CALL MPI_Precv_init(in, 1, 30_MPI_COUNT_KIND, MPI_INTEGER, source=partner, tag=9, comm=MPI_COMM_WORLD, &
      info=MPI_INFO_NULL, request=requests(2))
  CALL MPI_Startall(2, requests)
  CALL MPI_Pready_range(0, 1, requests(1))
  CALL MPI_Pready_list(1, [2], requests(1))
  CALL MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CALL MPI_F_sync_reg(in)
  CALL expect(ALL(in - in(1) == [(i, i = 0, 29)]), 'partitioned operations')
  CALL MPI_Request_free(requests(1))
  CALL MPI_Request_free(requests(2))
  CALL finish

CONTAINS

  ! The descriptors of the sections end with this procedure, the operations do not.
  SUBROUTINE start_and_leave(from, to, started)
    INTEGER, ASYNCHRONOUS, INTENT(IN) :: from(:)
    INTEGER, ASYNCHRONOUS, INTENT(INOUT) :: to(:)
    TYPE(MPI_Request), INTENT(OUT) :: started(:)
    to = -1
    CALL MPI_Irecv(to(1:30:6), 5, MPI_INTEGER, partner, 4, MPI_COMM_WORLD, started(1))
    CALL MPI_Isend(from(30:10:-5), 5, MPI_INTEGER, partner, 4, MPI_COMM_WORLD, started(2))
  END SUBROUTINE start_and_leave
END PROGRAM nonblocking
