# shellcheck shell=bash
# What the measurements share: where the binary is, processor time by control group, results.

set -euo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$bench")
sonde=${SONDE:-$root/target/release/sonde}
# Raw results go here; run.sh gives the place.
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/sonde-bench.XXXXXX")}
mkdir -p "$out"

need() {
    for program in "$@"; do
        command -v "$program" >/dev/null || { echo "bench: needs $program" >&2; exit 2; }
    done
}

# A result: name, unit, value, target ('-' for none). The verdict is made of it in run.sh.
result() {
    printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:--}" | tee -a "$out/results.tsv" >&2
}

# Processor time is read from a control group of the measured program's own: exact to the
# nanosecond (version 1) or microsecond (version 2), and with all its children. The times of
# /proc/PID/stat have steps of 10 ms.
if [ -f /sys/fs/cgroup/cpuacct/cpuacct.usage ]; then
    groups=/sys/fs/cgroup/cpuacct
else
    groups=/sys/fs/cgroup
fi

group_make() { mkdir -p "$groups/sonde-bench-$$-$1"; }

# Starts the command $2... in the group $1; to be put into the background.
group_exec() {
    local group=$1
    shift
    echo $BASHPID > "$groups/sonde-bench-$$-$group/cgroup.procs"
    exec "$@"
}

# Processor time of the group so far, in microseconds.
group_time() {
    local dir=$groups/sonde-bench-$$-$1
    if [ -f "$dir/cpuacct.usage" ]; then
        awk '{ printf "%.3f\n", $1 / 1000 }' "$dir/cpuacct.usage"
    else
        awk '$1 == "usage_usec" { print $2 }' "$dir/cpu.stat"
    fi
}

group_remove() { rmdir "$groups/sonde-bench-$$-$1" 2>/dev/null || true; }

# A field of /proc/PID/status in KiB.
memory() { awk -v field="$2:" '$1 == field { print $2 }' "/proc/$1/status" 2>/dev/null || true; }

# Bytes of the files of a directory, as their lengths say.
bytes_of() { find "$1" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'; }

calc() { awk "BEGIN { printf \"%.4g\\n\", $* }"; }

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# Drops a run's files from the page cache; needs no root, unlike drop_caches.
evict() {
    for file in "$1"/*; do
        dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none
    done
}

# How long `get` takes on the run $run, $rounds times on two processors, from files that are
# not in memory: name, target of time, target of memory, arguments.
measure() {
    local name=$1 fast=$2 small=$3 timing most=0
    shift 3
    timing=$(mktemp)
    : > "$timing.walls"
    for _ in $(seq "$rounds"); do
        evict "$run"
        local from=$EPOCHREALTIME
        taskset -c 0,1 /usr/bin/time -f %M -o "$timing" "$sonde" get "$run" "$@" > /dev/null
        local to=$EPOCHREALTIME
        calc "$to - $from" >> "$timing.walls"
        local peak
        peak=$(cat "$timing")
        [ "$peak" -gt "$most" ] && most=$peak
    done
    tr '\n' ' ' < "$timing.walls" | sed "s/^/$name: /" >> "$out/query-rounds.txt"
    echo >> "$out/query-rounds.txt"
    result "$name.time" "s: $*" "$(median < "$timing.walls")" "$fast"
    result "$name.memory" "MB" "$(calc "$most * 1.024 / 1000")" "$small"
    rm -f "$timing" "$timing.walls"
}
