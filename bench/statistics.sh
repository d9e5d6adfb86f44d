#!/usr/bin/env bash
# Speed of the statistics, and of a comparison of 100 runs, on two processors.
#
#   bench/statistics.sh [ROUNDS]     default 5; the median is the result
#
# The bootstrap is crates/analysis/examples/draws.rs: 10,000 draws over 30 runs × 2 arms × 4
# quantiles. The runs are imports of made-up samples of a disk, a minute each.

. "$(dirname "$0")/lib.sh"

rounds=${1:-5}
need "$sonde" taskset
draws=${DRAWS:-$root/target/release/examples/draws}
if [ ! -x "$draws" ]; then
    (cd "$root" && cargo build --release -p analysis --example draws) >&2
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
for ((run = 0; run < 100; run++)); do
    # A minute of `vmstat -t 1`, whose blocks out differ from second to second and run to run.
    awk -v seed="$run" 'BEGIN {
        srand(seed + 1)
        print "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----"
        print " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC"
        level = 5000 * (1 + 0.06 * rand())
        for (s = 0; s < 60; s++)
            printf " 1  0      0 800000  20000 300000    0    0  100 %d  900 1500 10  5 80  5  0 2026-01-%02d %02d:%02d:%02d\n", \
                level * (1 + 0.1 * rand()), 1 + int(seed / 24), seed % 24, 0, s
    }' > "$made/$run.txt"
    "$sonde" import "$made/$run.txt" --zone UTC -o "$made/run-$run" >/dev/null 2>&1
done
times=()
for ((i = 0; i < rounds; i++)); do
    from=$EPOCHREALTIME
    taskset -c 0,1 "$sonde" compare "$made"/run-?[02468] "$made"/run-[02468] \
        --vs "$made"/run-?[13579] "$made"/run-[13579] > "$out/statistics-compare.txt"
    times+=("$(calc "$EPOCHREALTIME - $from")")
done
printf 'statistics.compare: %s\n' "${times[*]}" >> "$out/statistics-rounds.txt"
result statistics.compare "s: 50 runs with 50" "$(printf '%s\n' "${times[@]}" | median)" '<= 2'
