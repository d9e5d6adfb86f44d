#!/usr/bin/env bash
# What an experiment costs beside its trials: the time from the end of one trial's command to the
# start of the next one's, and how fast the plan and the report of 100 trials are.
#
#   bench/try.sh [BLOCKS]     default 25: four arms, 100 trials of a tenth of a second each
#
# The command itself writes down when it begins and ends, so that the time between is not the
# program's own word. There is no settling and no warm-up. Every gap goes to try-gaps.tsv; two
# levels of detail: `events` (the default), with programs in the kernel if root asks, and
# `samples`.

. "$(dirname "$0")/lib.sh"

blocks=${1:-25}
need "$sonde"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cat > "$made/job.sh" <<'JOB'
echo "begin $EPOCHREALTIME" >> "$1"
sleep 0.1
echo "end $EPOCHREALTIME" >> "$1"
JOB
printf 'detail\tseconds\n' > "$out/try-gaps.tsv"

for detail in events samples; do
    SONDE_STATE=$made/state "$sonde" try --param n=1,2,3 --blocks "$blocks" --seed 1 -q \
        --record=--detail=$detail -m elapsed -m 'cpu.time:lower' -o "$made/$detail" \
        -- bash "$made/job.sh" "$made/stamps-$detail" '{n}' > /dev/null 2>> "$out/try.txt"
    awk -v detail="$detail" '
        $1 == "begin" && ended { printf "%s\t%.6f\n", detail, $2 - ended }
        { ended = $1 == "end" ? $2 : 0 }
    ' "$made/stamps-$detail" >> "$out/try-gaps.tsv"
    gaps() { awk -v detail="$detail" '$1 == detail { print $2 }' "$out/try-gaps.tsv"; }
    result "try.between.$detail" "s from command to command, the median" "$(gaps | median)" '<= 0.2'
    result "try.between.$detail.most" "s, the longest of $(gaps | wc -l)" \
        "$(gaps | sort -g | tail -n 1)"
done

# How long a command takes, the median of five.
timed() {
    local name=$1 what=$2
    shift 2
    for _ in 1 2 3 4 5; do
        local from=$EPOCHREALTIME
        taskset -c 0,1 "$@" > /dev/null 2>> "$out/try.txt"
        calc "$EPOCHREALTIME - $from"
    done > "$made/times"
    result "$name" "$what" "$(median < "$made/times")" '<= 2'
}

trials=$((4 * blocks))
timed try.plan "s: plan of $trials trials" "$sonde" try --param n=1,2,3 --blocks "$blocks" \
    -m elapsed -m 'cpu.time:lower' --dry-run -- true '{n}'
timed try.report "s: statistics and text of $trials trials" "$sonde" show "$made/events"
timed try.report.json "s: the same as JSON" "$sonde" show "$made/events" --json
