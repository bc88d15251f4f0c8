! Files: views of parts of an array, sections of the array with its border, and what the file reports.
PROGRAM views
  USE checks_f08
  IMPLICIT NONE
  TYPE(MPI_File) :: file
  TYPE(MPI_Datatype) :: part
  TYPE(MPI_Status) :: status
  TYPE(MPI_Request) :: request
  TYPE(MPI_Info) :: info
  INTEGER :: half, i, j, count, amode, table(8, 8), whole(8, 8)
  INTEGER, ASYNCHRONOUS :: tile(0:5, 0:9), few(16)
  INTEGER(KIND=MPI_OFFSET_KIND) :: place, size, offset
  LOGICAL :: atomic
  CHARACTER(LEN=400) :: folder

  CALL begin
  half = 4 * MOD(rank, 2)
  CALL GET_ENVIRONMENT_VARIABLE('TMPDIR', folder)
  CALL MPI_Info_create(info)
  CALL MPI_Info_set(info, 'access_style', 'write_once')
  CALL MPI_File_open(MPI_COMM_WORLD, TRIM(folder) // '/f08_views', &
      MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, info, file)
  CALL MPI_Type_create_subarray(2, [8, 8], [4, 8], [half, 0], MPI_ORDER_FORTRAN, MPI_INTEGER, part)
  CALL MPI_Type_commit(part)
  table = RESHAPE([((10 * i + j, i = 1, 8), j = 1, 8)], [8, 8])
  tile = -1
  tile(1:4, 1:8) = table(half + 1:half + 4, :)
  CALL MPI_File_set_view(file, 16_MPI_OFFSET_KIND, MPI_INTEGER, part, 'native', MPI_INFO_NULL)
  CALL MPI_File_write_all(file, tile(1:4, 1:8), 32, MPI_INTEGER, status)
  CALL MPI_Get_count(status, MPI_INTEGER, count)
  CALL expect(count == 32, 'the count of a collective write')
  CALL MPI_File_sync(file)
  CALL MPI_Barrier(MPI_COMM_WORLD)
  CALL MPI_File_sync(file)
  tile = -1
  CALL MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, tile(4:1:-1, 8:1:-1), 32, MPI_INTEGER, request)
  CALL MPI_Wait(request, status)
  CALL MPI_F_sync_reg(tile)
  CALL expect(ALL(tile(1:4, 1:8) == table(half + 4:half + 1:-1, 8:1:-1)), 'a section that is read backwards')
  CALL expect(ALL(tile(0:5:5, :) == -1) .AND. ALL(tile(:, 0:9:9) == -1), 'its border')

  CALL MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL)
  IF (ranks > 1) THEN
    CALL MPI_File_read_at(file, 16_MPI_OFFSET_KIND, whole, 64, MPI_INTEGER, status)
    CALL expect(ALL(whole == table), 'the whole array')
  END IF
  CALL MPI_File_get_size(file, size)
  CALL MPI_File_get_amode(file, amode)
  CALL expect(IAND(amode, MPI_MODE_RDWR) /= 0, 'the access mode')
  CALL MPI_File_seek(file, 0_MPI_OFFSET_KIND, MPI_SEEK_END)
  CALL MPI_File_get_position(file, place)
  CALL MPI_File_get_byte_offset(file, 12_MPI_OFFSET_KIND, offset)
  CALL expect(place == size .AND. offset == 12, 'places in the file')
  CALL MPI_File_set_atomicity(file, .TRUE.)
  CALL MPI_File_get_atomicity(file, atomic)
  CALL expect(atomic, 'atomic accesses')

  ! Items of two elements, in elements that are apart.
  few = -1
  CALL MPI_File_read_at(file, 16_MPI_OFFSET_KIND, few(1:16:5), 4, MPI_INTEGER, status)
  CALL expect(ALL(few(1:16:5) == table(1:4, 1)) .AND. few(2) == -1, 'a section that is read')
  few = -1
  CALL MPI_File_read_at_all_begin(file, 16_MPI_OFFSET_KIND, few(16:1:-5), 2, MPI_2INTEGER)
  CALL MPI_File_read_at_all_end(file, few(16:1:-5), status)
  CALL expect(ALL(few(16:1:-5) == table(1:4, 1)) .AND. few(2) == -1, 'items of two elements')
  CALL MPI_File_close(file)
  CALL MPI_Type_free(part)
  CALL MPI_Info_free(info)
  CALL finish
END PROGRAM views
