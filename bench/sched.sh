#!/usr/bin/env bash
# What the scheduler's programs cost at some 10,000 context switches a second.
#
#   bench/sched.sh [ROUNDS] [SECONDS]     default 15 rounds of 2 s each
#
# Two processes on one processor hand a byte to and fro (ping.c). Of a second of such a load:
#
# - What the kernel measures of the programs (bpf_stats), in rounds of their own; and of two empty
#   programs beside them in the same seconds, since most of it is the measuring.
# - What the two processes take more with a recorder than without, by switch: processor time of
#   their group, with and without in turn, each compared with the mean of those without before
#   and after it. `none` is the same of a run without a recorder, in its place: what is left of
#   the drift; `empty` that of two programs that do nothing. This has no measuring in it, but the
#   way to a program and back, and what becomes dearer beside it.
#
# Needs root, cc, taskset, python3, clang and bpftool (for the anchors).

. "$(dirname "$0")/lib.sh"

rounds=${1:-15}
seconds=${2:-2}
need cc taskset python3 clang bpftool "$sonde"
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-sched.XXXXXX")
stats=/proc/sys/kernel/bpf_stats_enabled
was=$(cat "$stats")
player= recorder= empty=

finish() {
    echo "$was" > "$stats"
    for process in $player $recorder $empty; do kill "$process" 2>/dev/null || true; done
    wait 2>/dev/null || true
    for group in players recorder; do group_remove "$group"; done
    rm -rf "$work"
}
trap finish EXIT

cc -O2 -o "$work/ping" "$bench/ping.c"
for group in players recorder; do group_make "$group"; done
group_exec players taskset -c 0 "$work/ping" &
player=$!
sleep 1

# Switches of the machine so far, and of the players.
switches() { awk '$1 == "ctxt" { print $2 }' /proc/stat; }
plays() {
    local pids
    pids=$(cat "$groups/sonde-bench-$$-players/cgroup.procs")
    for pid in $pids; do cat "/proc/$pid/status"; done | awk '/ctxt_switches/ { s += $2 } END { print s }'
}

# The players for that long: nanoseconds of a switch in $each, their switches a second in $rate.
play() {
    local time count from
    from=$EPOCHREALTIME
    time=$(group_time players)
    count=$(plays)
    sleep "$seconds"
    count=$(($(plays) - count))
    each=$(calc "($(group_time players) - $time) * 1000 / $count")
    rate=$(calc "$count / ($EPOCHREALTIME - $from)")
}

begin() {
    case $1 in
        none) return ;;
        empty) anchor_begin empty cpu empty; return ;;
    esac
    rm -rf "$work/run"
    group_exec recorder "$sonde" record -q --sources bpf-cpu --detail distributions -o "$work/run" &
    recorder=$!
    sleep 1
}

end() {
    case $1 in
        none) return ;;
        empty) anchor_end empty; return ;;
    esac
    kill "$recorder"
    wait "$recorder" || true
    recorder=
}

printf 'round\twith\tbefore\tns_a_switch\tafter\tswitches\trecorder_us\n' > "$out/sched.tsv"
arm() {
    local with=$1 before=$alone own=0 measured
    begin "$with"
    own=$(group_time recorder)
    play
    measured=$each
    own=$(calc "$(group_time recorder) - $own")
    end "$with"
    local switches_then=$rate
    play
    alone=$each
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$round" "$with" "$before" "$measured" "$alone" \
        "$switches_then" "$own" | tee -a "$out/sched.tsv" >&2
}

arms=(none empty programs)
play
alone=$each
for round in $(seq "$rounds"); do
    for turn in 0 1 2; do arm "${arms[(round + turn) % 3]}"; done
done

# A column's figure of an arm, a line a round.
figure() { awk -F'\t' -v with="$1" "NR > 1 && \$2 == with { print $2 }" "$out/sched.tsv"; }
added() { figure "$1" '$4 - ($3 + $5) / 2'; }
# ns a switch, at 10,000 a second, in % of a core.
share() { calc "$1 * 10000 / 1e9 * 100"; }
result sched.switches "a second, of the two processes" "$(figure programs '$6' | median)"
result sched.switch "ns of their time, without a recorder" "$(figure none '$4' | median)"
result sched.added.none "ns a switch" "$(added none | median)" 'within 50'
result sched.added.empty "ns a switch, two empty programs" "$(added empty | median)"
result sched.added "ns a switch" "$(added programs | median)"
result sched.added.from "ns a switch, first quartile" "$(added programs | quarter 0.25)"
result sched.added.to "ns a switch, third quartile" "$(added programs | quarter 0.75)"
result sched.added.share "% of a core at 10,000 switches a second" \
    "$(share "$(added programs | median)")" '<= 0.5'
result sched.recorder "% of a core, the recorder itself" \
    "$(figure programs "\$7 / $seconds / 1e4" | median)"

# The kernel measures: what is spent a switch of the machine, $count of them.
pass() {
    count=$(switches)
    sleep "$seconds"
    count=$(($(switches) - count))
}
printf 'round\twhose\tprogram\tns\thits\n' > "$out/sched-programs.tsv"
for round in 1 2 3 4 5; do
    begin empty
    begin programs
    measured_together "$recorder" "$empty" "$round" "$out/sched-programs.tsv" pass
    awk -F'\t' -v count="$count" 'NR == FNR { own += $2; next } { empty += $2 }
        END { printf "%.1f\t%.1f\n", own / count, empty / count }' \
        "$work/cost-$recorder" "$work/cost-$empty" >> "$work/costs"
    end programs
    end empty
done
own=$(cut -f 1 "$work/costs" | median)
result sched.programs "ns a switch, all programs of processors" "$own"
result sched.programs.empty "ns a switch, two empty programs beside them" \
    "$(cut -f 2 "$work/costs" | median)"
result sched.share "% of a core at 10,000 switches a second" "$(share "$own")" '<= 0.5'
