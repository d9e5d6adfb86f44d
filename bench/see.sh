#!/usr/bin/env bash
# What looking inside costs: I/Os a second without a recorder, with distributions, with events,
# in turn, on a loop device over tmpfs at saturation. Beside them, to compare: the usual pattern
# of agents (stamps in a hash, see anchors.py), and a one-liner of bpftrace where there is one.
#
#   bench/see.sh [ROUNDS] [SECONDS]     default 15 rounds of 3 s each
#
# - Loss of I/Os: what a run with a recorder has less than the mean of the two without beside it,
#   before and after: the machine's speed drifts by more than what is measured. Medians over the
#   rounds, in which the details take turns in being first. `none` is the same of a run without
#   a recorder, in its place: what is left of the drift; its quartiles say how much chance is in
#   the medians. Where it is far from nothing the others say nothing either. A recorder has the kernel
#   measure its programs for a tenth of a second of each three, which costs I/Os too: so a load that
#   lasts a multiple of three seconds has its share of that.
# - Cost of the block programs an I/O: what the kernel measures (bpf_stats) in five rounds of their
#   own, since measuring costs some 55 ns each time a program runs. The limit of 250 ns was set where
#   two empty programs read as 110. Where these read as more everything costs more, so two are
#   attached beside and measured in the same seconds, and the cost is told by theirs, too.
# - Processor time of the recorder for 100,000 events, while they come: of its control group, with
#   events less without. Sealing comes after the load.
#
# Needs root, fio, losetup, python3, clang and bpftool (for the anchors).

. "$(dirname "$0")/lib.sh"

rounds=${1:-15}
seconds=${2:-3}
need fio losetup python3 clang bpftool "$sonde"
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-see.XXXXXX")
file=/dev/shm/sonde-see-$$.img
fallocate -l 1G "$file"
device=$(losetup --find --show "$file")
stats=/proc/sys/kernel/bpf_stats_enabled
was=$(cat "$stats")
anchor= empty= recorder= tracer=
finish() {
    echo "$was" > "$stats"
    for process in $anchor $empty $recorder $tracer; do kill "$process" 2>/dev/null || true; done
    wait 2>/dev/null || true
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
    recorder=$!
    sleep 1.5
    before=$(group_time "$name")
    iops=$(load)
    cpu=$(calc "$(group_time "$name") - $before")
    wait "$recorder"
    recorder=
}

median() { sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# I/Os a second while an anchor is attached.
anchored() {
    anchor_begin anchor disk "$1"
    sleep 1
    iops=$(load)
    anchor_end anchor
    cpu=0
}

# The one-liner that everybody has: start times by device and sector, a histogram by device.
traced() {
    bpftrace -o "$work/bpftrace" -e '
        tracepoint:block:block_rq_issue { @begun[args->dev, args->sector] = nsecs; }
        tracepoint:block:block_rq_complete /@begun[args->dev, args->sector]/ {
            @[args->dev] = hist(nsecs - @begun[args->dev, args->sector]);
            delete(@begun[args->dev, args->sector]);
        }
        END { clear(@begun); }' 2> "$work/bpftrace.said" &
    tracer=$!
    while ! grep -q Attaching "$work/bpftrace" 2>/dev/null; do
        kill -0 "$tracer" || { echo "see.sh: bpftrace did not start" >&2; exit 1; }
        sleep 0.1
    done
    sleep 1.5
    iops=$(load)
    kill -INT "$tracer"
    wait "$tracer" || true
    tracer=
    # It saw the load, or its loss says nothing.
    grep -q '@@@@' "$work/bpftrace" || { echo "see.sh: bpftrace counted nothing" >&2; exit 1; }
    rm "$work/bpftrace"
    cpu=0
}

# One arm of a round: its row has the I/Os without a recorder before and after, too.
arm() {
    local detail=$1 kept=0 dropped=0
    case $detail in
        none) sleep 1.5; iops=$(load); cpu=0 ;;
        hash) anchored hash ;;
        bpftrace) traced ;;
        *) recorded "$detail" "$detail" ;;
    esac
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
details=(none samples distributions events hash)
if command -v bpftrace > /dev/null; then details+=(bpftrace); fi
load > /dev/null
none=$(load)
for round in $(seq "$rounds"); do
    for turn in "${!details[@]}"; do
        arm "${details[(round + turn) % ${#details[@]}]}"
    done
done

# A column's figure of a detail, a line a round: `figure DETAIL EXPRESSION`.
figure() { awk -F'\t' -v detail="$1" "NR > 1 && \$2 == detail { print $2 }" "$out/see.tsv"; }
loss() { figure "$1" '(1 - $4 / (($3 + $5) / 2)) * 100'; }
result see.iops "I/Os a second without a recorder" "$(figure none '$4' | median)"
result see.loss.none "% of the I/Os" "$(loss none | median)" 'within 3'
result see.loss.none.from "% of the I/Os, first quartile" "$(loss none | quarter 0.25)"
result see.loss.none.to "% of the I/Os, third quartile" "$(loss none | quarter 0.75)"
result see.loss.samples "% of the I/Os" "$(loss samples | median)"
result see.loss.distributions "% of the I/Os" "$(loss distributions | median)" '<= 6'
result see.loss.events "% of the I/Os" "$(loss events | median)" '<= 15'
for detail in "${details[@]:4}"; do
    result "see.loss.$detail" "% of the I/Os" "$(loss "$detail" | median)"
done
# Processor time with events, less the median without, for the events of that time.
others=$(figure distributions '$6' | median)
result see.events.cpu "% of a core for 100,000 events a second" \
    "$(figure events "(\$6 - $others) / \$7 * 100000 / 1e6 * 100" | median)" '<= 2'
result see.events.dropped "events" "$(figure events '$8' | awk '{ s += $1 } END { print s + 0 }')" '<= 0'
result see.events.stored "bytes an event, sealed" \
    "$(calc "$(stat -c %s "$work/events/disk_event.parquet") / $(figure events '$7' | tail -n 1)")" '<= 14'

# What the kernel measures of the programs of process $2 under load, and of the two empty ones
# beside it in the same seconds. A line a round: name, ns an I/O of each, the one by the other.
in_the_same_seconds() {
    local name=$1 process=$2
    load > /dev/null
    measured_together "$process" "$empty" "$name" "$out/see-programs.tsv" load > /dev/null
    # One of them runs at each I/O: the one with most hits.
    awk -F'\t' -v name="$name" '
        NR == FNR { own += $2; if ($3 > ios) ios = $3; next }
        { empty += $2; if ($3 > others) others = $3 }
        END { printf "%s\t%.1f\t%.1f\t%.3f\n", name, own / ios, empty / others,
              (own / ios) / (empty / others) }' \
        "$work/cost-$process" "$work/cost-$empty" >> "$work/costs"
}

printf 'what\twhose\tprogram\tns\thits\n' > "$out/see-programs.tsv"
for round in 1 2 3 4 5; do
    rm -rf "$work/measured"
    anchor_begin empty disk empty
    "$sonde" record -q --detail distributions --sources bpf-disk -o "$work/measured" &
    recorder=$!
    sleep 1
    in_the_same_seconds sonde "$recorder"
    kill "$recorder"
    wait "$recorder" || true
    recorder=
    anchor_begin anchor disk hash
    in_the_same_seconds hash "$anchor"
    anchor_end anchor
    anchor_end empty
done
cost() { awk -F'\t' -v name="$1" -v at="$2" '$1 == name { print $at }' "$work/costs" | median; }
result see.programs "ns an I/O, all block programs" "$(cost sonde 2)" '<= 250'
result see.programs.empty "ns an I/O, two empty programs beside them" "$(cost sonde 3)"
result see.programs.of_empty "of two empty programs, in the same seconds" "$(cost sonde 4)" \
    "<= $(calc 250 / 110)"
result see.programs.hash "ns an I/O, stamps in a hash" "$(cost hash 2)"
result see.programs.hash.of_empty "of two empty programs" "$(cost hash 4)"
