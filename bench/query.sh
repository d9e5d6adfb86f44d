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

if [ ! -f "$run/disk.parquet" ]; then
    rm -rf "$run"
    (cd "$root" && cargo run --release -p run --example synthetic -- "$run") >&2
fi
result query.size "MB, the sealed table" "$(calc "$(stat -c %s "$run/disk.parquet") / 1e6")"

measure query.all '<= 0.5' '<= 300' get 'disk.bytes'
measure query.device '<= 0.5' '<= 300' get 'disk.bytes by device'
measure query.one '<= 0.5' '<= 300' get 'disk.bytes by op where device = sda'
measure query.latency '<= 0.5' '<= 300' get 'disk.mean_latency by device, op'
measure query.hour '<= 0.5' '<= 300' get 'disk.ios by device where time in 3600s..7200s'
# Five million values as text.
measure query.series - - get 'disk.bytes by device' --csv --series
