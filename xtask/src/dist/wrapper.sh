#!/bin/sh
# @NAME@: compiles and links @LANGUAGE@ programs with Ferrum MPI; `@NAME@ --help` lists the options. All paths follow from
# the place of this file, links followed, so that the folder can be moved.

self=$0
case $self in
*/*) ;;
*) self=$(command -v -- "$self") ;;
esac
while [ -L "$self" ]; do
    target=$(readlink "$self")
    case $target in
    /*) self=$target ;;
    *) self=${self%/*}/$target ;;
    esac
done
prefix=$(CDPATH='' cd -P -- "$(dirname -- "$self")/.." && pwd) || exit 1

# Prints its arguments as words that a shell reads back unchanged.
words() {
    line=
    for word in "$@"; do
        case $word in
        '' | *[!A-Za-z0-9_./,:=+@%^-]*) word="'$(printf '%s' "$word" | sed "s/'/'\\\\''/g")'" ;;
        esac
        line="$line${line:+ }$word"
    done
    printf '%s\n' "$line"
}

# Prints the options of this script; those of the compiler follow.
usage() {
    cat <<'END'
Usage: @NAME@ [OPTION...] FILE...

Compiles and links @LANGUAGE@ programs with Ferrum MPI @VERSION@. Options of @NAME@:
  -show, -showme             print the command and do not run it
  -showme:compile            print the options for compiling
  -showme:link               print the options for linking
  -showme:incdirs, -showme:libdirs, -showme:libs, -showme:command, -showme:version
                             print one part of them
  -compile-info, -link-info  print the command for compiling or linking, without files
  @OPTION@=COMPILER
                             use this compiler in place of @COMPILER@, as the environment
                             variable @VARIABLE@ does
  --help                     print this text and the help of the compiler
All other options are passed to the compiler.

END
}

compiler=${@VARIABLE@:-@COMPILER@}
show=
link=yes
static=
inputs=
take_next=
for argument in "$@"; do
    shift
    if [ -n "$take_next" ]; then
        take_next=
        set -- "$@" "$argument"
        continue
    fi
    case $argument in
    -show | -showme) show=all ;;
    -showme:*) show=${argument#-showme:} ;;
    -compile-info | -compile_info) show=compile-info ;;
    -link-info | -link_info) show=link-info ;;
    --help)
        usage
        set -- "$@" "$argument"
        ;;
    @OPTION@=*) compiler=${argument#*=} ;;
    *)
        case $argument in
        -c | -S | -E | -M | -MM) link= ;;
        -static | -static-pie) static=yes ;;
        -o | -x | -I | -J | -L | -D | -U | -include | -isystem | -idirafter | -MF | -MT | -MQ | -Xlinker | -u) take_next=yes ;;
        -l*) inputs=yes ;;
        -?*) ;;
        *) inputs=yes ;;
        esac
        set -- "$@" "$argument"
        ;;
    esac
done

include=$prefix/include
lib=$prefix/lib
options="@OPTIONS@"
# The static library needs the system's ones named; the shared one knows its own. Each function of the static library is
# a section of its own: a program carries those that it uses. A run path in a static program ends it at its start.
if [ -n "$static" ]; then
    place=-Wl,--gc-sections
    tags="@STATIC_OPTIONS@"
    libraries="@STATIC@-lmpi -lpthread -ldl -lm"
else
    place=-Wl,-rpath,$lib
    tags=-Wl,--enable-new-dtags
    libraries="@SHARED@-lmpi_abi"
fi

case $show in
compile) words "-I$include" $options && exit ;;
link) words "-L$lib" "$place" $tags $libraries && exit ;;
incdirs) words "$include" && exit ;;
libdirs) words "$lib" && exit ;;
libs) printf '%s\n' "$libraries" | sed 's/-l//g' && exit ;;
command) words $compiler && exit ;;
version) printf '%s\n' "@NAME@: Ferrum MPI @VERSION@" && exit ;;
compile-info) words $compiler "-I$include" $options && exit ;;
link-info) words $compiler "-L$lib" "$place" $tags $libraries && exit ;;
'' | all) ;;
*) printf '%s\n' "@NAME@: -showme:$show is not known" >&2 && exit 1 ;;
esac

# `$compiler` may hold options, so it is split into words on purpose.
if [ -z "$inputs" ] && [ -z "$show" ]; then
    exec $compiler "$@"
elif [ -n "$link" ]; then
    set -- $compiler "-I$include" $options "$@" "-L$lib" "$place" $tags $libraries
else
    set -- $compiler "-I$include" $options "$@"
fi
if [ -n "$show" ]; then
    words "$@"
    exit
elif [ -z "$link" ]; then
    exec "$@"
fi

"$@"
status=$?
# A failed link is repeated with its messages captured: the first run wrote them unchanged, in the user's language.
absent=$prefix/share/ferrum-mpi/absent-functions
if [ $status -ne 0 ] && [ $status -lt 128 ] && [ -r "$absent" ]; then
    LC_ALL=C "$@" 2>&1 >/dev/null </dev/null | sed -n '/undefined reference to\|undefined symbol/p' |
        grep -o '[Pp]\{0,1\}[Mm][Pp][Ii]_[A-Za-z0-9_]*' | sed 's/^[Pp]//; s/_$//' | sort -u | grep -iFx -f - "$absent" |
        while read -r function; do
        printf '%s\n' "@NAME@: $function is not implemented in this version, see docs/coverage.md in $prefix/share/doc/ferrum-mpi"
    done >&2
fi
exit $status
