! One-sided operations from and to array sections with gaps; memory of the library as TYPE(C_PTR); buffers of buffered
! sends.
PROGRAM one_sided
  USE, INTRINSIC :: ISO_C_BINDING
  USE checks_f08
  IMPLICIT NONE
  TYPE(MPI_Win) :: win, created
  TYPE(C_PTR) :: base, address
  INTEGER, POINTER :: window(:), allocated(:)
  INTEGER, ASYNCHRONOUS :: out(20), in(20), one, before
  INTEGER, ASYNCHRONOUS :: room(1000), own(10)
  INTEGER :: next, i, size, unit
  INTEGER(KIND=MPI_ADDRESS_KIND) :: bytes, place, second
  TYPE(MPI_Request) :: request

  CALL begin
  next = MODULO(rank + 1, ranks)
  CALL MPI_Win_allocate(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  CALL C_F_POINTER(base, window, [10])
  window = 0
  out = [(100 * rank + i, i = 1, 20)]
  in = -1
  CALL MPI_Win_fence(0, win)
  CALL MPI_Put(out(1:20:4), 5, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 5, MPI_INTEGER, win)
  CALL MPI_Put(out(20:1:-4), 5, MPI_INTEGER, next, 5_MPI_ADDRESS_KIND, 5, MPI_INTEGER, win)
  CALL MPI_Win_fence(0, win)
  CALL expect(window(1) == MODULO(rank - 1, ranks) * 100 + 1, 'MPI_Put from the process before')
  CALL expect(ALL(window(1:5) - window(1) == [0, 4, 8, 12, 16]), 'MPI_Put of a section')
  CALL expect(ALL(window(6:10) - window(1) == [19, 15, 11, 7, 3]), 'MPI_Put backwards')
  CALL MPI_Get(in(2:20:4), 5, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 5, MPI_INTEGER, win)
  CALL MPI_Win_fence(0, win)
  CALL MPI_F_sync_reg(in)
  CALL expect(ALL(in(2:20:4) == out(1:20:4)) .AND. ALL(in(1:20:4) == -1), 'MPI_Get')
  CALL MPI_Win_fence(0, win)
  CALL MPI_Accumulate(out(1:5:2), 3, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 3, MPI_INTEGER, MPI_SUM, win)
  CALL MPI_Win_fence(0, win)
  CALL expect(window(1) == 2 * (MODULO(rank - 1, ranks) * 100 + 1), 'MPI_Accumulate of a section')
  one = 1
  before = -1
  CALL MPI_Fetch_and_op(one, before, MPI_INTEGER, next, 9_MPI_ADDRESS_KIND, MPI_SUM, win)
  CALL MPI_Win_fence(0, win)
  CALL MPI_F_sync_reg(before)
  CALL expect(before == out(4), 'MPI_Fetch_and_op')

  ! Errors go to the window's handler.
  CALL MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
  CALL MPI_Put(out(1:20:4), 6, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 5, MPI_INTEGER, win, ierror)
  CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'a section that is too short')
  CALL MPI_Win_fence(0, win)
  CALL MPI_Win_free(win)
  CALL expect(win == MPI_WIN_NULL, 'MPI_Win_free')
  CALL MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  CALL MPI_Win_create(own(1:10:3), 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, created, ierror)
  CALL expect(is_of_class(ierror, MPI_ERR_BUFFER), 'a window of a section')
  CALL MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  CALL MPI_Win_create(own, 40_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, MPI_INFO_NULL, MPI_COMM_WORLD, created)
  CALL MPI_Win_free(created)

  ! Memory that processes share.
  CALL MPI_Win_allocate_shared(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  CALL C_F_POINTER(base, window, [2])
  window = rank
  CALL MPI_Win_fence(0, win)
  CALL MPI_Win_shared_query(win, next, bytes, unit, address)
  CALL C_F_POINTER(address, allocated, [2])
  CALL expect(bytes == 8 .AND. unit == 4 .AND. ALL(allocated == next), 'MPI_Win_shared_query')
  CALL MPI_Win_fence(0, win)
  CALL MPI_Win_free(win)

  CALL MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, address)
  CALL C_F_POINTER(address, allocated, [100])
  allocated = 7
  CALL expect(SUM(allocated) == 700, 'MPI_Alloc_mem')
  CALL MPI_Free_mem(allocated)

  ! Addresses, of sections too.
  CALL MPI_Get_address(own(1), place)
  CALL MPI_Get_address(own(9:1:-2), second)
  CALL expect(MPI_Aint_diff(second, place) == 32, 'MPI_Get_address')
  CALL MPI_Get_address(MPI_BOTTOM, place)
  CALL expect(place == 0, 'the address of MPI_BOTTOM')

  ! Buffered sends.
  CALL MPI_Get_address(room, place)
  CALL MPI_Buffer_attach(room, 4000)
  CALL MPI_Ibsend(out(1:20:2), 10, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request)
  CALL MPI_Bsend(out(1:20:2), 10, MPI_INTEGER, rank, 1, MPI_COMM_WORLD)
  CALL MPI_Recv(in, 20, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  CALL MPI_Recv(in(20:1:-2), 10, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  CALL MPI_Wait(request, MPI_STATUS_IGNORE)
  CALL expect(ALL(in(20:1:-2) == out(1:20:2)), 'MPI_Bsend')
  CALL MPI_Buffer_detach(address, size)
  CALL expect(size == 4000 .AND. TRANSFER(address, place) == place, 'MPI_Buffer_detach')
  CALL MPI_Buffer_attach(room, 4000_MPI_COUNT_KIND)
  CALL MPI_Buffer_detach(address, bytes)
  CALL expect(bytes == 4000 .AND. TRANSFER(address, place) == place, 'MPI_Buffer_detach with a large size')
  CALL finish
END PROGRAM one_sided
