! Spawned programs: names, arguments and info objects are converted at the root, and ignored elsewhere.
PROGRAM spawns
  USE checks_f08
  IMPLICIT NONE
  INTEGER, PARAMETER :: LONG = 500
  TYPE(MPI_Comm) :: parent, children
  TYPE(MPI_Info) :: infos(2), nothing(2)
  CHARACTER(LEN=LONG) :: own, commands(2), arguments(2, 3), word, directory
  CHARACTER(LEN=3) :: wrong(2), wrongs(2, 1)
  INTEGER :: counts(2), codes(3), numbers(3), wrong_counts(2), root, value
  INTEGER(KIND=MPI_ADDRESS_KIND) :: appnum
  LOGICAL :: flag

  CALL begin
  CALL MPI_Comm_get_parent(parent)
  IF (parent /= MPI_COMM_NULL) THEN
    CALL child
    STOP
  END IF

  ! The last process is the root.
  root = ranks - 1
  CALL GET_COMMAND_ARGUMENT(0, own)
  commands = ['  ' // own(:LONG - 2), own]
  arguments = ' '
  arguments(1, 1) = '  one'
  arguments(1, 2) = 'in two words   '
  arguments(2, 1) = 'three'
  CALL MPI_Info_create(infos(1))
  CALL MPI_Info_set(infos(1), 'wdir', '/')
  infos(2) = MPI_INFO_NULL
  counts = [1, 2]
  codes = -1

  ! What other processes pass is not looked at.
  wrong = '?'
  wrongs = '?'
  wrong_counts = [-5, 0]
  nothing%MPI_VAL = 4711
  IF (rank == root) THEN
    CALL MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, root, MPI_COMM_WORLD, children, codes, ierror)
  ELSE
    CALL MPI_Comm_spawn_multiple(-3, wrong, wrongs, wrong_counts, nothing, root, MPI_COMM_WORLD, children, codes, ierror)
  END IF
  CALL expect(ierror == MPI_SUCCESS, 'MPI_Comm_spawn_multiple')
  CALL expect(rank /= root .OR. ALL(codes == MPI_SUCCESS), 'codes of the processes')
  CALL receive_verdict(3)

  ! One program, without arguments at the root, and without codes.
  IF (rank == root) THEN
    CALL MPI_Comm_spawn('   ' // own, MPI_ARGV_NULL, 1, infos(1), root, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
  ELSE
    CALL MPI_Comm_spawn('?', wrong, -1, nothing(1), root, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
  END IF
  CALL expect(ierror == MPI_SUCCESS, 'MPI_Comm_spawn')
  CALL receive_verdict(1)
  CALL MPI_Info_free(infos(1))
  CALL finish

CONTAINS

  ! Each child reports how many of its checks have failed.
  SUBROUTINE receive_verdict(processes)
    INTEGER, INTENT(IN) :: processes
    value = MERGE(MPI_ROOT, MPI_PROC_NULL, rank == root)
    numbers = 0
    CALL MPI_Gather(0, 0, MPI_INTEGER, numbers, 1, MPI_INTEGER, value, children)
    CALL expect(ALL(numbers(:processes) == 0), 'what the children have found')
    CALL MPI_Comm_disconnect(children)
  END SUBROUTINE receive_verdict

  SUBROUTINE child
    INTEGER :: bad
    bad = 0
    CALL MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, appnum, flag)
    IF (.NOT. flag .OR. appnum /= MERGE(0, 1, rank == 0)) bad = bad + 1
    CALL GET_COMMAND_ARGUMENT(1, word)
    IF (ranks == 1) THEN
      IF (COMMAND_ARGUMENT_COUNT() /= 0) bad = bad + 1
    ELSE IF (rank == 0) THEN
      IF (COMMAND_ARGUMENT_COUNT() /= 2 .OR. word /= 'one') bad = bad + 1
      CALL GET_COMMAND_ARGUMENT(2, word)
      IF (word /= 'in two words') bad = bad + 1
    ELSE
      IF (COMMAND_ARGUMENT_COUNT() /= 1 .OR. word /= 'three') bad = bad + 1
    END IF
    CALL GETCWD(directory)
    IF ((directory == '/') .NEQV. (rank == 0)) bad = bad + 1
    CALL MPI_Comm_remote_size(parent, value)
    CALL MPI_Gather(bad, 1, MPI_INTEGER, numbers, 0, MPI_INTEGER, value - 1, parent)
    CALL MPI_Comm_disconnect(parent)
    CALL MPI_Finalize(ierror)
  END SUBROUTINE child
END PROGRAM spawns
