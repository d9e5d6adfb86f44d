#!/usr/bin/env bash
# Runs the measurements and keeps their raw results.
#
#   bench/run.sh [--host NAME] [--build] [MEASUREMENT...]
#
# MEASUREMENT: start, query, events, import, statistics, calibration, try; cost, see, share, sched,
# files, resident (need root). Default: all of these, as root; else the first, and the others are named.
# view (writes 8 GB, takes long) and page (needs Node and chromium) are run where they are named.
# --build adds a clean release build, which takes minutes. NAME stands for the machine in the
# results (default: `uname -n`).
# Results go to bench/runs/<date>-<NAME>/: results.tsv, the machine's facts, raw numbers. They are
# compared with those that are kept of this machine (table.sh).
# Ends with status 1 if a target was missed, or something could not be measured.

set -euo pipefail
cd "$(dirname "$0")/.."

host=$(uname -n)
wanted=()
build=
while [ $# -gt 0 ]; do
    case $1 in
        --host) host=$2; shift ;;
        --build) build=1 ;;
        -h | --help) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit ;;
        start | query | cost | events | import | statistics | calibration | try | view | see | share | sched | files | resident | page)
            wanted+=("$1") ;;
        *) echo "run.sh: what is $1? (see --help)" >&2; exit 2 ;;
    esac
    shift
done
if [ ${#wanted[@]} = 0 ]; then
    wanted=(start query events import statistics calibration try)
    as_root=(cost see share sched files resident)
    if [ "$(id -u)" = 0 ]; then
        wanted+=("${as_root[@]}")
    else
        echo "run.sh: left out, for they need root: ${as_root[*]}" >&2
    fi
fi
[ -z "$build" ] || wanted+=(build)

cargo build --release --locked
OUT=$PWD/bench/runs/$(date -u +%Y%m%d)-$host
export OUT
rm -rf "$OUT"
mkdir -p "$OUT"

{
    echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "host: $host"
    echo "commit: $(git rev-parse --short HEAD)$(git diff --quiet HEAD -- crates src || echo ', with changes')"
    echo "kernel: $(uname -sr)"
    echo "processor: $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) in use"
    echo "memory: $(awk '/MemTotal/ { printf "%.1f GB", $2 * 1.024 / 1e6 }' /proc/meminfo)"
    echo "processes: $(find /proc -maxdepth 1 -name '[0-9]*' | wc -l)"
    echo "load at the start: $(cut -d' ' -f1-3 /proc/loadavg)"
    echo "rustc: $(rustc --version)"
    echo "sadc: $(dpkg-query -W -f '${Version}' sysstat 2>/dev/null || echo unknown)"
    echo "collectl: $(dpkg-query -W -f '${Version}' collectl 2>/dev/null || echo unknown)"
    echo "atop: $(dpkg-query -W -f '${Version}' atop 2>/dev/null || echo unknown)"
    echo "node_exporter: $(dpkg-query -W -f '${Version}' prometheus-node-exporter 2>/dev/null || echo unknown)"
} > "$OUT/machine.txt"

# What lacks a program must not take the others' results with it.
failed=()
for measurement in "${wanted[@]}"; do
    "bench/$measurement.sh" || failed+=("$measurement")
done
echo "load at the end: $(cut -d' ' -f1-3 /proc/loadavg)" >> "$OUT/machine.txt"

cat "$OUT/machine.txt"
status=0
touch "$OUT/results.tsv"
bench/table.sh "$OUT" | tee "$OUT/table.txt" || status=1
if [ ${#failed[@]} -gt 0 ]; then
    echo "not measured to the end: ${failed[*]}" | tee -a "$OUT/table.txt"
    status=1
fi
exit $status
