#!/usr/bin/env bash
# Hosts made of namespaces, for tests of jobs on several hosts: each has its own network, host name, process ids, IPC, /dev/shm and
# sshd; files are shared. Needs root, iproute2, util-linux and openssh. Several can be up at once: all names have the number of
# the lab, and its state is in the folder that the first argument names.
#
#   lab.sh FOLDER up N          hosts h1 to hN, in a network of their own
#   lab.sh FOLDER run I WORD... a command on host hI, as this process
#   lab.sh FOLDER cut I | mend I   the network of hI falls silent, comes back
#   lab.sh FOLDER kill I | again I   all processes of hI end; it starts again
#   lab.sh FOLDER rate I RATE   limits what hI sends (1mbit)
#   lab.sh FOLDER slurm         a Slurm with all hosts; its controller is on h1
#   lab.sh FOLDER left I        processes on hI other than those of the host itself
#   lab.sh FOLDER down          ends all of it, by process id
#
# The lab ends by itself when the process whose id is in LAB_OWNER has ended.
set -euo pipefail

folder=$1
verb=$2
shift 2
self=$(readlink -f "$0")

name() { echo "fh$(cat "$folder/number")$1"; }
fail() { echo "lab: $*" >&2; exit 1; }

# The host's first process: a child of the `unshare` whose id is stored. The kernel ends all of the host with it.
first() {
    local outer children
    outer=$(cat "$folder/pid$1")
    children=$(cat "/proc/$outer/task/$outer/children" 2> /dev/null) || fail "host h$1 is down"
    children=${children%% *}
    [ -n "$children" ] || fail "host h$1 is down"
    echo "$children"
}

up() {
    local count=$1 i host switch
    mkdir -p "$folder" /run/sshd
    chmod 700 "$folder"
    echo $$ > "$folder/number"
    echo "$count" > "$folder/count"
    ssh-keygen -q -t ed25519 -N '' -f "$folder/user"
    ssh-keygen -q -t ed25519 -N '' -f "$folder/host"
    cat > "$folder/sshd_config" << END
Port 22
HostKey $folder/host
AuthorizedKeysFile $folder/user.pub
PermitRootLogin yes
PasswordAuthentication no
UsePAM no
StrictModes no
PidFile none
AcceptEnv *
MaxStartups 300
MaxSessions 300
END
    cat > "$folder/ssh" << END
#!/bin/sh
exec ssh -F none -i "$folder/user" -o User=root -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \\
    -o SendEnv='LD_LIBRARY_PATH PATH OMPI_* PRTE_* PMIX_*' "\$@"
END
    chmod +x "$folder/ssh"
    { echo '127.0.0.1 localhost'; for i in $(seq 1 "$count"); do echo "10.93.0.$i h$i"; done; } > "$folder/hosts"
    switch=$(name s)
    ip netns add "$switch"
    ip -n "$switch" link add name br0 type bridge
    ip -n "$switch" link set br0 up
    for i in $(seq 1 "$count"); do
        host=$(name "h$i")
        ip netns add "$host"
        ip link add name eth0 netns "$host" type veth peer name "v$i" netns "$switch"
        ip -n "$switch" link set "v$i" master br0
        ip -n "$switch" link set "v$i" up
        ip -n "$host" addr add "10.93.0.$i/24" dev eth0
        ip -n "$host" link set lo up
        ip -n "$host" link set eth0 up
        boot "$i"
    done
    for i in $(seq 1 "$count"); do
        await "$i"
    done
    if [ -n "${LAB_OWNER:-}" ]; then
        setsid "$self" "$folder" watch "$LAB_OWNER" $$ > /dev/null 2>&1 < /dev/null &
    fi
}

# Starts the processes of a host, whose network is there.
boot() {
    rm -f "$folder/up$1"
    setsid nsenter --net="/run/netns/$(name "h$1")" \
        unshare --pid --fork --kill-child --mount-proc --uts --ipc --mount \
        "$self" "$folder" init "$1" > "$folder/log$1" 2>&1 < /dev/null &
    echo $! > "$folder/pid$1"
}

# Waits until a host is up.
await() {
    for _ in $(seq 1500); do
        [ -e "$folder/up$1" ] && return
        sleep 0.02
    done
    fail "host h$1 does not start: $(cat "$folder/log$1")"
}

# Starts a host again that was killed, once its last process has ended.
again() {
    for _ in $(seq 500); do
        [ -z "$(ip netns pids "$(name "h$1")")" ] && break
        sleep 0.02
    done
    boot "$1"
    await "$1"
    if [ -e "$folder/slurm/slurm.conf" ]; then
        munge_on "$1"
        "$self" "$folder" run "$1" slurmd
        slurm_idle
    fi
}

# The first process of a host.
init() {
    mount -t tmpfs -o size=2g tmpfs /dev/shm
    mount -t tmpfs -o size=64m,mode=755 tmpfs /run/sshd
    mount --bind "$folder/hosts" /etc/hosts
    hostname "h$1"
    "$(command -v sshd)" -f "$folder/sshd_config"
    echo ready > "$folder/up$1"
    # Waits for its children and those that it gets: sleep is one of them.
    while :; do
        sleep 3600 &
        wait $! || true
    done
}

slurm() {
    local count i state
    count=$(cat "$folder/count")
    state=$folder/slurm
    mkdir -p "$state/state"
    head -c 128 /dev/urandom > "$state/munge.key"
    chmod 600 "$state/munge.key"
    cat > "$state/slurm.conf" << END
ClusterName=lab
SlurmctldHost=h1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/dev/shm/munge.socket
CredType=cred/munge
StateSaveLocation=$state/state
SlurmdSpoolDir=$state/spool-%n
SlurmctldPidFile=/dev/shm/slurmctld.pid
SlurmdPidFile=/dev/shm/slurmd.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=2
NodeName=h[1-$count] CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 State=UP
END
    # The hosts share /tmp, and Slurm's PMIx needs a folder of each host.
    if compgen -G '/usr/lib/*/pmix2/lib/libpmix.so' > /dev/null; then
        echo 'PMIxCliTmpDirBase=/dev/shm' > "$state/mpi.conf"
    fi
    for i in $(seq 1 "$count"); do
        mkdir -p "$state/spool-h$i"
        munge_on "$i"
    done
    "$self" "$folder" run 1 slurmctld
    for i in $(seq 1 "$count"); do "$self" "$folder" run "$i" slurmd; done
    slurm_idle
}

munge_on() {
    "$self" "$folder" run "$1" munged --force --key-file="$folder/slurm/munge.key" --socket=/dev/shm/munge.socket \
        --pid-file=/dev/shm/munged.pid --log-file=/dev/shm/munged.log --seed-file=/dev/shm/munge.seed
}

# Waits until Slurm can use all hosts.
slurm_idle() {
    for _ in $(seq 150); do
        [ "$("$self" "$folder" run 1 sinfo -h -o %t 2> /dev/null)" = idle ] && return
        sleep 0.2
    done
    tail -n 5 "$folder"/slurm/*.log >&2
    fail "Slurm does not start"
}

down() {
    local i
    [ -e "$folder/count" ] || return 0
    for i in $(seq 1 "$(cat "$folder/count")"); do
        [ -e "$folder/pid$i" ] && kill -9 "$(cat "$folder/pid$i")" 2> /dev/null || true
        ip netns del "$(name "h$i")" 2> /dev/null || true
    done
    ip netns del "$(name s)" 2> /dev/null || true
    # A host's files are written until its last process has ended.
    for _ in $(seq 50); do
        rm -rf "$folder" 2> /dev/null && return
        sleep 0.05
    done
}

case $verb in
up) up "$1" ;;
init) init "$1" ;;
run)
    pid=$(first "$1")
    shift
    [ -e "$folder/slurm/slurm.conf" ] && export SLURM_CONF="$folder/slurm/slurm.conf"
    exec nsenter -t "$pid" --net --pid --mount --uts --ipc --wd="$PWD" -- "$@"
    ;;
cut) ip -n "$(name s)" link set "v$1" down ;;
mend) ip -n "$(name s)" link set "v$1" up ;;
rate) ip netns exec "$(name "h$1")" tc qdisc replace dev eth0 root tbf rate "$2" burst ${3:-256kb} latency 50ms ;;
kill) kill -9 "$(cat "$folder/pid$1")" ;;
again) again "$1" ;;
slurm) slurm ;;
left) "$self" "$folder" run "$1" ps -eo pid=,args= | grep -Ev ' (\[|ps |sleep 3600|sshd|/usr/sbin/sshd|munged|slurmctld|slurmd|.*/lab.sh )' || true ;;
watch)
    while kill -0 "$1" 2> /dev/null; do sleep 0.5; done
    # The folder may be another lab's by now.
    [ "$(cat "$folder/number" 2> /dev/null)" = "$2" ] && down
    ;;
down) down ;;
*) fail "no such command: $verb" ;;
esac
