#!/usr/bin/env bash
# What an event costs on its way to the disk, and how long an expression takes over many.
#
#   bench/events.sh [MILLIONS [ROUNDS]]     default 10 and 5; the median is the result
#
# The events are made by crates/run/examples/events.rs: 300,000 random reads a second, as of a
# fast device. The run is written to target/bench/events-MILLIONS and kept (13 MB a million;
# while writing, twice that). Its memory is measured in real time, for twenty seconds.

. "$(dirname "$0")/lib.sh"

millions=${1:-10}
rounds=${2:-5}
run=$root/target/bench/events-$millions
need "$sonde" taskset dd /usr/bin/time
mkdir -p "$root/target/bench"

make() { (cd "$root" && cargo run --release --quiet -p run --example events -- "$@"); }

# Targets by name.
target() {
    case $1 in
        recording.memory) echo '<= 40' ;;
        sealing.memory) echo '<= 100' ;;
        journal.size) echo '<= 16' ;;
        sealed.size) echo '<= 14' ;;
        journal.time) echo '<= 100' ;;
        *) echo - ;;
    esac
}

told() {
    local name unit value
    while IFS=$'\t' read -r name unit value; do
        result "events.$name" "$unit" "$value" "$(target "$name")"
    done
}

rm -rf "$run" "$run-paced"
make "$run" "$millions" > "$out/events.tsv"
# At full speed its memory says nothing: what waits for the disk is larger.
grep -v memory "$out/events.tsv" | told
awk -F'\t' '$1 ~ /^(encode|compress).time/ { sum += $3 }
    END { printf "journal.time\tns an event, encoded and compressed\t%.4g\n", sum }' \
    "$out/events.tsv" | told
make "$run-paced" 6 1 paced | grep memory | told
rm -rf "$run-paced"

fast="<= $(calc "0.04 * $millions")"
measure events.all "$fast" '<= 1000' 'disk.ios by process where device = loop0'
measure events.latency "$fast" '<= 1000' \
    'disk.ios by latency where device = loop0 and op = read and command = fio'
measure events.process "$fast" '<= 1000' 'disk.ios by process, latency where device = loop0'
measure events.offset "$fast" '<= 1000' 'disk.ios by offset where device = loop0'
measure events.slow "$fast" '<= 1000' \
    'disk.bytes by distance where device = loop0 and latency > 200us'
measure events.mean "$fast" '<= 1000' 'disk.mean_latency by process where device = loop0'
