#!/bin/sh
# @NAME@: compiles and links @LANGUAGE@ programs with Ferrum MPI. Everything it does not know goes to the compiler.
#
#   -show, -showme                 print the command instead of running it
#   -showme:compile, -showme:link  print the compiler's or the linker's options for MPI (also :incdirs, :libdirs, :libs,
#                                  :command, :version)
#   -compile-info, -link-info      print the compiling or linking command without files
#   @OPTION@=COMPILER                  use this compiler; so does the environment variable @VARIABLE@ (now: @COMPILER@)
#
# The folder can be moved: everything is found from where this file is, links followed.

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
    @OPTION@=*) compiler=${argument#*=} ;;
    *)
        case $argument in
        -c | -S | -E | -M | -MM) link= ;;
        -static) static=yes ;;
        -o | -x | -I | -L | -D | -U | -include | -isystem | -idirafter | -MF | -MT | -MQ | -Xlinker | -u) take_next=yes ;;
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
# The static library needs the system's ones named; the shared one knows its own.
if [ -n "$static" ]; then
    libraries="-lmpi -lpthread -ldl -lm"
else
    libraries=-lmpi_abi
fi

case $show in
compile) words "-I$include" && exit ;;
link) words "-L$lib" "-Wl,-rpath,$lib" "-Wl,--enable-new-dtags" $libraries && exit ;;
incdirs) words "$include" && exit ;;
libdirs) words "$lib" && exit ;;
libs) printf '%s\n' "$libraries" | sed 's/-l//g' && exit ;;
command) words $compiler && exit ;;
version) printf '%s\n' "@NAME@: Ferrum MPI @VERSION@" && exit ;;
compile-info) words $compiler "-I$include" && exit ;;
link-info) words $compiler "-L$lib" "-Wl,-rpath,$lib" "-Wl,--enable-new-dtags" $libraries && exit ;;
'' | all) ;;
*) printf '%s\n' "@NAME@: -showme:$show is not known" >&2 && exit 1 ;;
esac

# `$compiler` may hold options, so it is split into words on purpose.
if [ -z "$inputs" ] && [ -z "$show" ]; then
    exec $compiler "$@"
elif [ -n "$link" ]; then
    set -- $compiler "-I$include" "$@" "-L$lib" "-Wl,-rpath,$lib" "-Wl,--enable-new-dtags" $libraries
else
    set -- $compiler "-I$include" "$@"
fi
if [ -n "$show" ]; then
    words "$@"
else
    exec "$@"
fi
