#!/usr/bin/env bash
# What looking inside costs: I/Os a second without a recorder, with distributions, with events,
# in turn, on a loop device over tmpfs at saturation.
#
#   bench/see.sh [ROUNDS] [SECONDS]     default 15 rounds of 2 s each
#
# - Loss of I/Os: what a run with a recorder has less than the mean of the two without beside it,
#   before and after: the machine's speed drifts by more than what is measured. Medians over the
#   rounds, in which the details take turns in being first. `none` is the same of a run without
#   a recorder, in its place: what is left of the drift; its quartiles say how much chance is in
#   the medians.
# - Cost of the block programs an I/O: what the kernel measures (bpf_stats) in a round of its own,
#   since measuring costs some 55 ns each time a program runs; two empty programs read as 110.
# - Processor time of the recorder for 100,000 events, while they come: of its control group, with
#   events less without. Sealing comes after the load.
#
# Needs root, fio, losetup.

. "$(dirname "$0")/lib.sh"

rounds=${1:-15}
seconds=${2:-2}
need fio losetup "$sonde"
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-see.XXXXXX")
file=/dev/shm/sonde-see-$$.img
fallocate -l 1G "$file"
device=$(losetup --find --show "$file")
finish() {
    losetup --detach "$device" || true
    rm -rf "$file" "$work"
    for group in samples distributions events measured; do group_remove "$group"; done
}
trap finish EXIT

load() {
    fio --name=see --filename="$device" --rw=randread --bs=4k --direct=1 --ioengine=libaio \
        --iodepth=32 --runtime="$seconds" --time_based --output-format=terse 2>/dev/null |
        cut -d';' -f8
}

# I/Os a second with a recorder of that detail, and its processor time in microseconds.
recorded() {
    local detail=$1 name=$2
    group_make "$name"
    local before
    rm -rf "$work/$name"
    (group_exec "$name" "$sonde" record -q --detail "$detail" --event-budget 100% \
        -o "$work/$name" --for $((seconds + 3))s) &
    local recorder=$!
    sleep 1.5
    before=$(group_time "$name")
    iops=$(load)
    cpu=$(calc "$(group_time "$name") - $before")
    wait "$recorder"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# One arm of a round: its row has the I/Os without a recorder before and after, too.
arm() {
    local detail=$1 kept=0 dropped=0
    if [ "$detail" = none ]; then
        sleep 1.5
        iops=$(load)
        cpu=0
    else
        recorded "$detail" "$detail"
    fi
    if [ "$detail" = events ]; then
        kept=$(awk -F: '/"disk_event"/ { gsub(/[ ,]/, "", $2); print $2; exit }' "$work/events/run.json")
        # No rows: nothing was dropped.
        dropped=$({ "$sonde" get "$work/events" "self.dropped by table" --csv 2>/dev/null || true; } | awk -F, 'NR > 1 { s += $2 } END { print s + 0 }')
    fi
    local measured=$iops before=$none
    none=$(load)
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$round" "$detail" "$before" "$measured" "$none" \
        "$cpu" "$kept" "$dropped" | tee -a "$out/see.tsv" >&2
}

printf 'round\tdetail\tbefore\tiops\tafter\tcpu\tevents_kept\tevents_dropped\n' > "$out/see.tsv"
details=(none samples distributions events)
load > /dev/null
none=$(load)
for round in $(seq "$rounds"); do
    for turn in 0 1 2 3; do
        arm "${details[(round + turn) % 4]}"
    done
done

# A column's figure of a detail, a line a round: `figure DETAIL EXPRESSION`.
figure() { awk -F'\t' -v detail="$1" "NR > 1 && \$2 == detail { print $2 }" "$out/see.tsv"; }
loss() { figure "$1" '(1 - $4 / (($3 + $5) / 2)) * 100'; }
quarter() { sort -g | awk -v at="$1" '{ v[NR] = $1 } END { print v[int(1 + (NR - 1) * at + 0.5)] }'; }
result see.iops "I/Os a second without a recorder" "$(figure none '$4' | median)"
result see.loss.none "% of the I/Os" "$(loss none | median)"
result see.loss.none.from "% of the I/Os, first quartile" "$(loss none | quarter 0.25)"
result see.loss.none.to "% of the I/Os, third quartile" "$(loss none | quarter 0.75)"
result see.loss.samples "% of the I/Os" "$(loss samples | median)"
result see.loss.distributions "% of the I/Os" "$(loss distributions | median)" '<= 6'
result see.loss.events "% of the I/Os" "$(loss events | median)" '<= 15'
# Processor time with events, less the median without, for the events of that time.
others=$(figure distributions '$6' | median)
result see.events.cpu "% of a core for 100,000 events a second" \
    "$(figure events "(\$6 - $others) / \$7 * 100000 / 1e6 * 100" | median)" '<= 2'
result see.events.dropped "events" "$(figure events '$8' | awk '{ s += $1 } END { print s + 0 }')" '<= 0'
result see.events.stored "bytes an event, sealed" \
    "$(calc "$(stat -c %s "$work/events/disk_event.parquet") / $(figure events '$7' | tail -n 1)")" '<= 14'

# The kernel measures for the whole of this round.
seconds=5
stats=/proc/sys/kernel/bpf_stats_enabled
was=$(cat "$stats")
echo 1 > "$stats"
group_make measured
rm -rf "$work/measured"
"$sonde" record -q --detail distributions --sources bpf-disk -o "$work/measured" --for $((seconds + 3))s &
recorder=$!
sleep 1.5
load >/dev/null
for info in /proc/"$recorder"/fdinfo/*; do
    awk '/^prog_id/ { id = $2 } /^run_time_ns/ { t = $2 } /^run_cnt/ { n = $2 }
         END { if (n > 100000) printf "%s\t%d\t%.1f\n", id, n, t / n }' "$info" 2>/dev/null
done | sort -u > "$out/see-programs.tsv"
echo "$was" > "$stats"
wait "$recorder"
result see.programs "ns an I/O, all block programs" "$(awk '{ s += $3 } END { print s + 0 }' "$out/see-programs.tsv")" '<= 250'
