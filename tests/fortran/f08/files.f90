! Files: array sections with gaps in calls that block, do not block, and are split; and packing.
PROGRAM files
  USE checks_f08
  IMPLICIT NONE
  TYPE(MPI_File) :: file
  TYPE(MPI_Status) :: status
  TYPE(MPI_Request) :: requests(2)
  INTEGER, ASYNCHRONOUS :: out(24), in(24), packed(40)
  INTEGER :: i, position, count, bytes
  INTEGER(KIND=MPI_OFFSET_KIND) :: start, length
  CHARACTER(LEN=400) :: folder
  CHARACTER(LEN=MPI_MAX_DATAREP_STRING) :: datarep
  INTEGER(KIND=MPI_ADDRESS_KIND) :: place
  TYPE(MPI_Datatype) :: etype, filetype

  CALL begin
  CALL GET_ENVIRONMENT_VARIABLE('TMPDIR', folder)
  CALL MPI_File_open(MPI_COMM_WORLD, TRIM(folder) // '/f08_files ', &
      IOR(IOR(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), MPI_INFO_NULL, file)
  out = [(100 * rank + i, i = 1, 24)]
  start = 96 * rank
  CALL MPI_File_write_at(file, start, out(1:24:2), 12, MPI_INTEGER, status)
  CALL MPI_Get_count(status, MPI_INTEGER, count)
  CALL expect(count == 12, 'the count of a section that is written')
  CALL MPI_File_iwrite_at(file, start + 48, out(24:1:-2), 12, MPI_INTEGER, requests(1))
  CALL MPI_Wait(requests(1), status)
  in = -1
  CALL MPI_File_read_at(file, start, in, 24, MPI_INTEGER, status)
  CALL expect(ALL(in(1:12) == out(1:24:2)) .AND. ALL(in(13:24) == out(24:1:-2)), 'sections in a file')
  in = -1
  CALL MPI_File_iread_at(file, start, in(1:24:2), 12, MPI_INTEGER, requests(1))
  CALL MPI_File_iread_at(file, start + 48, in(24:1:-2), 12, MPI_INTEGER, requests(2))
  CALL MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CALL MPI_F_sync_reg(in)
  CALL expect(ALL(in == out), 'sections that are read')

  ! Split collective calls: the section of the beginning.
  CALL MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL)
  CALL MPI_File_get_view(file, length, etype, filetype, datarep)
  CALL expect(length == start .AND. etype == MPI_INTEGER .AND. datarep == 'external32', 'MPI_File_get_view')
  CALL MPI_File_write_at_all_begin(file, 0_MPI_OFFSET_KIND, out(3:24:3), 8, MPI_INTEGER)
  CALL MPI_File_write_at_all_end(file, out(3:24:3), status)
  CALL MPI_Get_count(status, MPI_INTEGER, count)
  CALL expect(count == 8, 'MPI_File_write_at_all_end')
  in = 0
  CALL MPI_File_read_at_all_begin(file, 0_MPI_OFFSET_KIND, in(24:1:-3), 8_MPI_COUNT_KIND, MPI_INTEGER)
  CALL MPI_File_read_at_all_end(file, in(24:1:-3), status)
  CALL expect(ALL(in(24:1:-3) == out(3:24:3)) .AND. ALL(in(2:24:3) == 0), 'external32 with sections')
  CALL MPI_File_get_size(file, length)
  CALL expect(length == 96 * ranks, 'MPI_File_get_size')
  CALL MPI_Barrier(MPI_COMM_WORLD)
  CALL MPI_File_write_at(file, 0_MPI_OFFSET_KIND, out(1:3:2), 3, MPI_INTEGER, status, ierror)
  CALL expect(is_of_class(ierror, MPI_ERR_COUNT), 'errors go to the handler of the file, which returns them')
  CALL MPI_File_close(file)
  CALL expect(file == MPI_FILE_NULL, 'MPI_File_close')

  ! Packing from sections into sections.
  position = 0
  packed = 0
  CALL MPI_Pack_size(5, MPI_INTEGER, MPI_COMM_WORLD, bytes)
  CALL expect(bytes >= 20, 'MPI_Pack_size')
  CALL MPI_Pack(out(1:24:5), 5, MPI_INTEGER, packed(1:40:2), 80, position, MPI_COMM_WORLD)
  in = 0
  count = position
  position = 0
  CALL MPI_Unpack(packed(1:40:2), count, position, in(5:1:-1), 5, MPI_INTEGER, MPI_COMM_WORLD)
  CALL expect(ALL(in(5:1:-1) == out(1:24:5)) .AND. position == count .AND. ALL(packed(2:40:2) == 0), 'MPI_Pack')
  place = 0
  in = 0
  CALL MPI_Pack_external('external32', out(2:24:4), 6, MPI_INTEGER, packed, 160_MPI_ADDRESS_KIND, place)
  CALL expect(place == 24, 'MPI_Pack_external')
  place = 0
  CALL MPI_Unpack_external('external32 ', packed, 24_MPI_ADDRESS_KIND, place, in(1:24:4), 6, MPI_INTEGER)
  CALL expect(ALL(in(1:24:4) == out(2:24:4)) .AND. place == 24, 'MPI_Unpack_external')
  CALL finish
END PROGRAM files
