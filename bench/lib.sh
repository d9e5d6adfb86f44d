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

# A result: name, unit, value, target ('<= 6', '>= 500', 'within 3' of zero, '-' for none). The
# verdict is made of it in table.sh.
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

# The value at a share of the lines, as in `quarter 0.25`.
quarter() { sort -g | awk -v at="$1" '{ v[NR] = $1 } END { print v[int(1 + (NR - 1) * at + 0.5)] }'; }

# What the kernel measured of the programs that a process holds (bpf_stats): number, ns, hits.
programs_of() {
    for info in /proc/"$1"/fdinfo/*; do
        awk '/^prog_id/ { id = $2 } /^run_time_ns/ { t = $2 } /^run_cnt/ { n = $2 }
             END { if (n != "") printf "%d\t%.0f\t%.0f\n", id, t, n }' "$info" 2>/dev/null || true
    done | sort -u -k 1,1
}

# What lies between two such lists, of before and after: number, ns, hits of those that ran.
programs_between() {
    awk -F'\t' 'NR == FNR { t[$1] = $2; n[$1] = $3; next }
        $3 > n[$1] { printf "%s\t%.0f\t%.0f\n", $1, $2 - t[$1], $3 - n[$1] }' "$1" "$2"
}

# What the kernel measures of the programs of the processes $1 and $2, which hold ours and empty
# ones, in the same seconds: those of the command $5... Into $work/cost-PROCESS, and with the label
# $3 into the file $4. $stats is where the kernel is told to, $was what it said.
measured_together() {
    local own=$1 empty=$2 label=$3 file=$4 who
    shift 4
    for who in "$own" "$empty"; do programs_of "$who" > "$work/before-$who"; done
    echo 1 > "$stats"
    "$@"
    echo "$was" > "$stats"
    for who in "$own" "$empty"; do
        programs_of "$who" > "$work/after-$who"
        programs_between "$work/before-$who" "$work/after-$who" > "$work/cost-$who"
        sed "s/^/$label\t$([ "$who" = "$empty" ] && echo empty || echo own)\t/" "$work/cost-$who" \
            >> "$file"
    done
}

# Attaches an anchor (see anchors.py) in the background; its process goes to the variable $1.
anchor_begin() {
    local said process
    said=$(mktemp)
    python3 -B "$bench/anchors.py" "$2" "$3" > "$said" &
    process=$!
    printf -v "$1" %s "$process"
    while ! grep -q attached "$said"; do
        kill -0 "$process" 2>/dev/null || { echo "bench: no anchor $3" >&2; exit 1; }
        sleep 0.1
    done
    rm -f "$said"
}

anchor_end() {
    kill "${!1}"
    wait "${!1}" || true
    printf -v "$1" %s ''
}

# Drops a run's files from the page cache; needs no root, unlike drop_caches.
evict() {
    for file in "$1"/*; do
        dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none
    done
}

# How long a question takes on the run $run, $rounds times on two processors, from files that are
# not in memory: name, target of time, target of memory, `get` or `plot`, arguments.
measure() {
    local name=$1 fast=$2 small=$3 ask=$4 timing most=0
    shift 4
    timing=$(mktemp)
    : > "$timing.walls"
    : > "$timing.work"
    for _ in $(seq "$rounds"); do
        evict "$run"
        local from=$EPOCHREALTIME
        taskset -c 0,1 /usr/bin/time -f '%M %U %S' -o "$timing" "$sonde" "$ask" "$run" "$@" > /dev/null
        local to=$EPOCHREALTIME
        # A picture is written once.
        [ "${*: -2:1}" != -o ] || rm -f "${*: -1}"
        calc "$to - $from" >> "$timing.walls"
        local peak user system
        read -r peak user system < "$timing"
        calc "$user + $system" >> "$timing.work"
        [ "$peak" -le "$most" ] || most=$peak
    done
    tr '\n' ' ' < "$timing.walls" | sed "s/^/$name: /" >> "$out/query-rounds.txt"
    echo >> "$out/query-rounds.txt"
    result "$name.time" "s: $ask $*" "$(median < "$timing.walls")" "$fast"
    # What is left where others had the processors meanwhile.
    result "$name.cpu" "s of processor time" "$(median < "$timing.work")"
    result "$name.memory" "MB" "$(calc "$most * 1.024 / 1000")" "$small"
    rm -f "$timing" "$timing.walls" "$timing.work"
}
