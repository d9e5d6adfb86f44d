#!/usr/bin/env bash
# How long an expression takes over a day of 64 disks: 24 hours × 1 s × 64 devices × 4
# operations, 22 million rows, on two processors, from a file that is not in memory.
#
#   bench/query.sh [ROUNDS]     default 5; the median is the result
#
# The run is written once, by crates/run/examples/synthetic.rs, to target/bench/ (or where
# SYNTHETIC says; takes a minute and, while writing, 2 GB).

. "$(dirname "$0")/lib.sh"

rounds=${1:-5}
run=${SYNTHETIC:-$root/target/bench/synthetic}
need "$sonde" taskset dd /usr/bin/time
timing=$(mktemp)
trap 'rm -f "$timing"' EXIT

if [ ! -f "$run/disk.parquet" ]; then
    rm -rf "$run"
    (cd "$root" && cargo run --release -p run --example synthetic -- "$run") >&2
fi
result query.size "MB, the sealed table" "$(calc "$(stat -c %s "$run/disk.parquet") / 1e6")"

# Drops the run's files from the page cache; needs no root, unlike drop_caches.
evict() {
    for file in "$run"/*; do
        dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none
    done
}

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# name, target of time, target of memory, arguments of `get`
measure() {
    local name=$1 fast=$2 small=$3
    shift 3
    : > "$timing.walls"
    local most=0
    for _ in $(seq "$rounds"); do
        evict
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
    result "query.$name.time" "s: $*" "$(median < "$timing.walls")" "$fast"
    result "query.$name.memory" "MB" "$(calc "$most * 1.024 / 1000")" "$small"
    rm -f "$timing.walls"
}

measure all '<= 0.5' '<= 300' 'disk.bytes'
measure device '<= 0.5' '<= 300' 'disk.bytes by device'
measure one '<= 0.5' '<= 300' 'disk.bytes by op where device = sda'
measure latency '<= 0.5' '<= 300' 'disk.mean_latency by device, op'
measure hour '<= 0.5' '<= 300' 'disk.ios by device where time in 3600s..7200s'
# Five million values as text.
measure series - - 'disk.bytes by device' --csv --series
