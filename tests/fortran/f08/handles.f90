! Handles, their operators and their integers; statuses and their conversions; optional IERROR; texts; constants.
PROGRAM handles
  USE checks_f08
  USE mpi, ONLY: old_world => MPI_COMM_WORLD, old_send => MPI_SEND
  IMPLICIT NONE
  TYPE(MPI_Comm) :: duplicate, other, pair(2)
  TYPE(MPI_Group) :: group
  TYPE(MPI_Request) :: request, requests(2)
  TYPE(MPI_Status) :: status, back, statuses(2)
  TYPE(MPI_Info) :: info
  TYPE(MPI_Datatype) :: datatype
  INTEGER :: integers(MPI_STATUS_SIZE), comparison, length, size, buffer(4), buflen, code
  INTEGER(KIND=MPI_COUNT_KIND) :: count
  CHARACTER(LEN=MPI_MAX_OBJECT_NAME) :: name
  CHARACTER(LEN=MPI_MAX_INFO_KEY) :: key
  CHARACTER(LEN=20) :: value
  CHARACTER(LEN=MPI_MAX_ERROR_STRING) :: text
  CHARACTER(LEN=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  LOGICAL :: flag
  LOGICAL, PARAMETER :: subarrays = MPI_SUBARRAYS_SUPPORTED

  CALL begin
  CALL expect(subarrays, 'MPI_SUBARRAYS_SUPPORTED')
  CALL MPI_Comm_dup(MPI_COMM_WORLD, duplicate)
  other = duplicate
  CALL expect(other == duplicate .AND. .NOT. (other /= duplicate), 'operators of equal handles')
  CALL expect(duplicate /= MPI_COMM_WORLD .AND. .NOT. (duplicate == MPI_COMM_WORLD), 'operators of other handles')
  CALL expect(MPI_COMM_WORLD%MPI_VAL == old_world, 'MPI_VAL of a constant')
  pair = [MPI_COMM_WORLD, MPI_COMM_NULL]
  CALL expect(ALL((pair == MPI_COMM_NULL) .EQV. [.FALSE., .TRUE.]), 'operators are elemental')
  CALL MPI_Comm_compare(duplicate, MPI_COMM_WORLD, comparison, ierror)
  CALL expect(ierror == MPI_SUCCESS .AND. comparison == MPI_CONGRUENT, 'MPI_Comm_compare')

  ! A handle is an INTEGER in the older modules.
  buffer = 5
  IF (rank == 0) CALL old_send(buffer, 1, MPI_INTEGER%MPI_VAL, MPI_PROC_NULL, 1, duplicate%MPI_VAL, ierror)

  CALL MPI_Comm_set_name(duplicate, 'a name  ')
  CALL MPI_Comm_get_name(duplicate, name, length)
  CALL expect(name == 'a name' .AND. length == 6, 'a name without its trailing blanks')
  CALL MPI_Info_create(info)
  CALL MPI_Info_set(info, ' key ', ' the value ')
  buflen = LEN(value)
  CALL MPI_Info_get_string(info, 'key', buflen, value, flag)
  CALL expect(flag .AND. value == 'the value' .AND. buflen == 9, 'a value of an info object')
  CALL MPI_Info_get_nthkey(info, 0, key)
  CALL expect(key == 'key', 'a key of an info object')
  CALL MPI_Info_free(info)
  CALL expect(info == MPI_INFO_NULL, 'MPI_Info_free')
  CALL MPI_Error_string(MPI_ERR_RANK, text, length, ierror)
  CALL expect(length > 0 .AND. text(length:length) /= ' ' .AND. text(length + 1:) == ' ', 'MPI_Error_string')
  CALL MPI_Add_error_code(MPI_ERR_OTHER, code)
  CALL MPI_Add_error_string(code, 'a text of the program   ')
  CALL MPI_Error_string(code, text, length)
  CALL expect(text(1:length) == 'a text of the program' .AND. length == 21, 'MPI_Add_error_string')
  CALL MPI_Get_library_version(version, length)
  CALL expect(version(1:10) == 'Ferrum MPI', 'MPI_Get_library_version')

  ! Statuses.
  CALL MPI_Isend(buffer, 3, MPI_INTEGER, rank, 9, duplicate, request)
  CALL MPI_Recv(buffer, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, duplicate, status)
  CALL MPI_Wait(request, MPI_STATUS_IGNORE)
  CALL expect(request == MPI_REQUEST_NULL, 'MPI_Wait')
  CALL expect(status%MPI_SOURCE == rank .AND. status%MPI_TAG == 9, 'components of a status')
  CALL MPI_Get_count(status, MPI_INTEGER, length)
  CALL MPI_Get_count(status, MPI_INTEGER, count)
  CALL expect(length == 3 .AND. count == 3_MPI_COUNT_KIND, 'MPI_Get_count by both kinds of integers')
  CALL MPI_Status_f082f(status, integers)
  CALL expect(integers(MPI_SOURCE) == rank .AND. integers(MPI_TAG) == 9, 'MPI_Status_f082f')
  CALL MPI_Status_f2f08(integers, back)
  CALL MPI_Get_elements(back, MPI_INTEGER, length)
  CALL expect(back%MPI_TAG == 9 .AND. length == 3, 'MPI_Status_f2f08')
  CALL MPI_Status_set_elements(back, MPI_INTEGER, 5_MPI_COUNT_KIND)
  CALL MPI_Get_elements(back, MPI_INTEGER, count)
  CALL expect(count == 5, 'MPI_Status_set_elements')
  statuses = status
  requests = MPI_REQUEST_NULL
  CALL MPI_Waitall(2, requests, statuses)
  CALL expect(statuses(2)%MPI_SOURCE == MPI_ANY_SOURCE, 'empty statuses of MPI_Waitall')

  ! By keywords, and by both names.
  CALL MPI_Type_size(size=size, datatype=MPI_DOUBLE_PRECISION)
  CALL expect(size == 8, 'arguments by keyword')
  CALL PMPI_Type_contiguous(count=3, oldtype=MPI_INTEGER, newtype=datatype, ierror=ierror)
  CALL MPI_Type_size(datatype, count)
  CALL expect(count == 12, 'PMPI_Type_contiguous')
  CALL MPI_Type_free(datatype)
  CALL MPI_Comm_group(duplicate, group)
  CALL MPI_Group_size(group, size)
  CALL expect(size == ranks, 'MPI_Group_size')
  CALL MPI_Group_free(group)
  CALL expect(MPI_Wtime() > 0 .AND. PMPI_Wtick() > 0, 'MPI_Wtime')
  CALL expect(MPI_Aint_diff(MPI_Aint_add(100_MPI_ADDRESS_KIND, 11_MPI_ADDRESS_KIND), 1_MPI_ADDRESS_KIND) == 110, 'sums')
  CALL MPI_Sizeof(count, size, ierror)
  CALL expect(size == 8, 'MPI_Sizeof')
  CALL PMPI_Sizeof(pair%MPI_VAL, size, ierror)
  CALL expect(size == 4, 'PMPI_Sizeof of an array')
  CALL PMPI_F_sync_reg(pair)
  CALL MPI_Comm_free(duplicate)
  CALL expect(duplicate == MPI_COMM_NULL, 'MPI_Comm_free')
  CALL finish
END PROGRAM handles
