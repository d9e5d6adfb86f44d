#!/usr/bin/env bash
# Speed of the statistics, and of a comparison of 100 runs, on two processors.
#
#   bench/statistics.sh [ROUNDS]     default 5; the median is the result
#
# The bootstrap is crates/analysis/examples/draws.rs: 10,000 draws over 30 runs × 2 arms × 4
# quantiles. The runs are examples/sides.rs: a minute of a disk each, with 30,000 latencies.

. "$(dirname "$0")/lib.sh"

rounds=${1:-5}
need "$sonde" taskset
draws=${DRAWS:-$root/target/release/examples/draws}
sides=${SIDES:-$root/target/release/examples/sides}
if [ ! -x "$draws" ] || [ ! -x "$sides" ]; then
    (cd "$root" && cargo build --release -p analysis -p sonde --example draws --example sides) >&2
fi

times=()
for ((i = 0; i < rounds; i++)); do
    times+=("$(taskset -c 0,1 "$draws" 2>/dev/null)")
done
printf 'statistics.bootstrap: %s\n' "${times[*]}" >> "$out/statistics-rounds.txt"
result statistics.bootstrap "s: 10,000 draws, 30 runs × 2 arms × 4 quantiles" \
    "$(printf '%s\n' "${times[@]}" | median)" '<= 1'

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$sides" "$made" 50
times=()
for ((i = 0; i < rounds; i++)); do
    from=$EPOCHREALTIME
    taskset -c 0,1 "$sonde" compare "$made"/a-* --vs "$made"/b-* -m disk.bytes \
        -m 'p50 disk.ios by latency' -m 'p99 disk.ios by latency' > "$out/statistics-compare.txt"
    times+=("$(calc "$EPOCHREALTIME - $from")")
done
printf 'statistics.compare: %s\n' "${times[*]}" >> "$out/statistics-rounds.txt"
result statistics.compare "s: 50 runs with 50" "$(printf '%s\n' "${times[@]}" | median)" '<= 2'
