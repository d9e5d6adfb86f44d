#!/usr/bin/env bash
# What looking inside costs: I/Os a second without a recorder, with distributions, with events,
# in turn, on a loop device over tmpfs at saturation.
#
#   bench/see.sh [ROUNDS] [SECONDS]     default 5 rounds of 5 s each
#
# - Loss of I/Os: medians over the rounds of the ratio to the run without a recorder of the same
#   round.
# - Cost of the block programs an I/O: what the kernel measures (bpf_stats) in a round of its own,
#   since measuring costs some 55 ns each time a program runs; two empty programs read as 110.
# - Processor time of the recorder for 100,000 events, while they come: of its control group, with
#   events less without. Sealing comes after the load.
#
# Needs root, fio, losetup.

. "$(dirname "$0")/lib.sh"

rounds=${1:-5}
seconds=${2:-5}
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

printf 'round\tnone\tsamples\tdistributions\tevents\tcpu_samples\tcpu_distributions\tcpu_events\tevents_kept\n' > "$out/see.tsv"
for round in $(seq "$rounds"); do
    none=$(load)
    recorded samples samples
    samples=$iops samples_cpu=$cpu
    recorded distributions distributions
    distributions=$iops distributions_cpu=$cpu
    recorded events events
    events=$iops events_cpu=$cpu
    kept=$(awk -F: '/"disk_event"/ { gsub(/[ ,]/, "", $2); print $2; exit }' "$work/events/run.json")
    # No rows: nothing was dropped.
    dropped=$({ "$sonde" get "$work/events" "self.dropped by table" --csv 2>/dev/null || true; } | awk -F, 'NR > 1 { s += $2 } END { print s + 0 }')
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$round" "$none" "$samples" "$distributions" \
        "$events" "$samples_cpu" "$distributions_cpu" "$events_cpu" "$kept" "$dropped" | tee -a "$out/see.tsv" >&2
done

column() { awk -F'\t' -v a="$1" -v b="$2" 'NR > 1 && $b > 0 { print (1 - $a / $b) * 100 }' "$out/see.tsv" | median; }
result see.iops "I/Os a second without a recorder" "$(cut -f2 "$out/see.tsv" | tail -n +2 | median)"
result see.loss.samples "% of the I/Os" "$(column 3 2)"
result see.loss.distributions "% of the I/Os" "$(column 4 2)" '<= 6'
result see.loss.events "% of the I/Os" "$(column 5 2)" '<= 15'
result see.events.cpu "% of a core for 100,000 events a second" \
    "$(awk -F'\t' 'NR > 1 { print ($8 - $7) / $9 * 100000 / 1e6 * 100 }' "$out/see.tsv" | median)" '<= 2'
result see.events.dropped "events" "$(awk -F'\t' 'NR > 1 { s += $10 } END { print s + 0 }' "$out/see.tsv")" '<= 0'
result see.events.stored "bytes an event, sealed" \
    "$(calc "$(stat -c %s "$work/events/disk_event.parquet") / $kept")" '<= 14'

# The kernel measures for the whole of this round.
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
