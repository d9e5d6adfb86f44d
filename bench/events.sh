#!/usr/bin/env bash
# What an event costs on its way to the disk, and how long any breakdown, any heat map and any
# figure takes over many.
#
#   bench/events.sh [ROUNDS] [MILLIONS...]     default 5, and 10 100; the median is the result
#
# The events are made by crates/run/examples/events. What they cost and take is told of a fast
# device's random reads, of which nothing can be compressed; its memory is measured in real time, for
# twenty seconds. Questions are asked of a busy server's hour, in which each dimension has many
# values. Its run is written to target/bench/server-MILLIONS and kept (12 MB a million; while
# writing, twice that; 100 million take minutes). Limits: 0.4 s for 10 million and 4 s for 100,
# within 1 GB, on two processors, from files that are not in memory.

. "$(dirname "$0")/lib.sh"

rounds=${1:-5}
sizes=("${@:2}")
[ ${#sizes[@]} -gt 0 ] || sizes=(10 100)
need "$sonde" taskset dd /usr/bin/time
mkdir -p "$root/target/bench"
pictures=$(mktemp -d)
trap 'rm -rf "$pictures"' EXIT

make() { (cd "$root" && cargo run --release --quiet -p run --example events -- "$@"); }

# Targets by name.
target() {
    case $1 in
        recording.memory) echo '<= 40' ;;
        sealing.memory) echo '<= 100' ;;
        journal.size) echo '<= 16' ;;
        sealed.size | *.sealed.size) echo '<= 14' ;;
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

device=$root/target/bench/events-device
rm -rf "$device"
make "$device" 10 device > "$out/events.tsv"
# At full speed its memory says nothing: what waits for the disk is larger.
grep -v memory "$out/events.tsv" | told
awk -F'\t' '$1 ~ /^(encode|compress).time/ { sum += $3 }
    END { printf "journal.time\tns an event, encoded and compressed\t%.4g\n", sum }' \
    "$out/events.tsv" | told
rm -rf "$device"
make "$device" 6 device paced | grep memory | told
rm -rf "$device"

# Pictures go there.
cd "$pictures"

# A question over $millions: name, arguments of `measure` from the subcommand on.
ask() {
    local name=$1
    shift
    measure "events.$millions.$name" "<= $(calc "0.04 * $millions")" '<= 1000' "$@"
}

for millions in "${sizes[@]}"; do
    run=$root/target/bench/server-$millions
    if [ ! -f "$run/disk_event.parquet" ]; then
        rm -rf "$run" "$run.tsv"
        make "$run" "$millions" server > "$run.tsv"
    fi
    sed -n "s/^\(sealed.size\|events\)\t/$millions.\1\t/p" "$run.tsv" | told
    # By words: few values, many, several dimensions at once.
    ask device get 'disk.ios by device, op'
    ask process get 'disk.ios by process'
    ask cgroup get 'disk.bytes by cgroup, op'
    ask file get 'disk.ios by file'
    ask mean get 'disk.mean_latency by command, op'
    ask random get 'disk.random_share by device'
    # By numbers: of all, of a part, by a word beside it.
    ask latency get 'disk.ios by latency'
    ask part get 'disk.ios by latency where op = read and command = postgres'
    ask queue get 'disk.ios by queue_time where latency > 1ms'
    ask size get 'disk.bytes by size, op'
    ask offset get 'disk.ios by offset where device = nvme0n1'
    ask distance get 'disk.ios by distance'
    ask depth get 'disk.ios by device, depth'
    ask both get 'disk.ios by process, latency where op = write'
    ask series get 'disk.ios by device' --series --csv
    # Pictures: heat maps and lines, for a terminal and as files.
    ask terminal plot 'disk.ios by latency'
    ask heat plot 'disk.ios by latency' -o "$millions-latency.png"
    ask heat.offset plot 'disk.ios by offset where device = nvme0n1' \
        -o "$millions-offset.png"
    ask heat.part plot 'disk.ios by service_time where op = write and file ~ "volume3"' \
        -o "$millions-part.png"
    ask lines plot 'disk.mean_latency by device' -o "$millions-lines.svg"
done
