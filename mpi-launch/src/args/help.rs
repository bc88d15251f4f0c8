//! The text of `--help`.

/// The text that `--help` prints.
pub const HELP: &str = "\
Usage: mpiexec [OPTION...] PROGRAM [ARGUMENT...] [: [OPTION...] PROGRAM [ARGUMENT...]]...
       mpiexec [OPTION...] -configfile FILE

Starts processes on this machine or on others, connected as the ranks of one MPI job.
Options may have one dash or two, and their value after a blank or \"=\".
After -- comes the program, and from there on \":\" does not divide.

For one program (each part between \":\" has its own):
  -n N, -np N          number of processes, 1 to 8192 in all, 1024 a host; 1 if not given
  -soft LIST           permitted numbers, such as 2:16:2,5; the largest up to N is taken
  -host LIST           hosts for its ranks, each with its number of them: a,b:4
  -arch NAME           has to be that of the machine, as uname -m prints it
  -wdir DIR            start the program in this directory
  -path LIST           look for the program in these directories (a:b:c) before PATH
  -env NAME VALUE      set a variable; NAME=VALUE is understood too
  -x NAME[=VALUE]      the same; without a value pass NAME on (as all variables are)
  -file FILE           read more options, and what else would stand here, from a file

For the whole job:
  -configfile FILE     one program a line, in place of the parts between \":\"; # begins a
                       comment, a backslash at the end continues the line, and
                       '...' and \"...\" keep blanks
  -hostfile FILE       hosts, one a line (NAME, NAME:N or NAME slots=N), of programs
                       without -host; -machinefile and -f are the same
  -ppn N               so many ranks on each host; -perhost and -npernode are the same
  --map-by HOW         node: one rank on each host in turn; slot: fill each host;
                       ppr:N:node: N on each host
  --oversubscribe      allow more ranks than the hosts have room for
  --manager NAME       what reaches other hosts: srun, prterun or hydra, or the path of one;
                       without it and FERRUM_MANAGER, in this order, what is found
  -genv NAME VALUE     set a variable for all programs
  --cvar NAME=VALUE    set a control variable of the library in all ranks
  --settings FILE      set those that a file has, in lines NAME = VALUE
  --tool FILE          put this tool in front of the library; each further one is called by
                       the one before; calls: a line for each call on standard error
  --profile            at the end print calls, times and bytes of each MPI function
  --trace FILE         write the times of all calls to this file, for ui.perfetto.dev
  --timeline FILE      when the job fails, or makes no progress with --hang-report, write
                       the times of the last calls to this file, for ui.perfetto.dev
  --stats[=FILE]       at the end write a summary: traffic, waits, queues, collectives,
                       memory; FILE.json for programs, FILE.html for a browser
  --initial-errhandler NAME
                       mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return
  --stdin WHO          who gets the standard input: a rank (0 if not given), all or none
  --tag-output, -l     begin each line of output with the rank that wrote it
  --timestamp          begin each line of output with the time
  --output DIR         write what ranks print to the files DIR/rank.N.out and rank.N.err
  --timeout SECONDS    end the job after this time, and report what each rank was doing;
                       0: no limit; MPIEXEC_TIMEOUT sets it in the environment
  --hang-report[=SECONDS]
                       when no rank makes progress for this time (60 s if not given), report
                       who waits for whom and why; the job continues
  --gdb RANKS          when a rank crashes or the time is over, print where all threads of
                       these ranks (0,4-7 or all) are; in tmux, open gdb for each
  --bind HOW           cores: each rank on a core of its own; none: where the system puts
                       it; auto (if not given): cores if there are as many as ranks
  --error-format HOW   what mpiexec and the library say of failures: text or json
  --quiet, -q          leave out the failures and warnings that mpiexec reports; mistakes on
                       the command line, and what ranks and the library print, stay
  --verbose, -v        say what is started, where, and how it ends
  --help, -h           print this text
  --help-cvars [WORD...]
                       print the control variables, what they take, and what they do; with
                       words, those that contain all of them
  --help-pvars, --help-events, --help-categories [WORD...]
                       the same for performance variables, event types and categories
  --version, -V        print the version
  --allow-run-as-root, -envall, -genvall
                       accepted, and not needed

Standard output and error of all ranks are passed on by whole lines.
SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on to
all ranks. When a rank fails the others are ended; no process is left behind.

Exit codes:
  0    all ranks returned 0
  N    the first rank that failed returned N, or ended the job with code N
  128+N  signal N ended the first rank that failed, or the job
  1    a rank ended without MPI_Finalize, output was lost, statistics could not be
       written, or mpiexec itself failed
  2    the command line cannot be understood or done
  124  the time limit (--timeout, MPIEXEC_TIMEOUT) was over
  126  a program cannot be executed
  127  a program is not found

Control variables (--help-cvars lists them) get their values from --cvar; else from the
environment (FERRUM_ and the name in capitals); else from the settings file (--settings,
else the one that FERRUM_SETTINGS names, else ~/.config/ferrum-mpi/settings).
";
