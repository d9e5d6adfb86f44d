#!/usr/bin/env bash
# Runs the measurements and keeps their raw results.
#
#   bench/run.sh [--host NAME] [--build] [MEASUREMENT...]
#
# MEASUREMENT: start, query, cost, events, import, statistics, calibration, try (default: all of
# these), view, see, files and resident (need root), page (needs Node and chromium);
# --build adds a clean release build, which takes minutes. NAME stands for the machine in the
# results (default: `uname -n`).
# Results go to bench/runs/<date>-<NAME>/: results.tsv, the machine's facts, raw numbers.
# Ends with status 1 if a target was missed.

set -euo pipefail
cd "$(dirname "$0")/.."

host=$(uname -n)
wanted=()
build=
while [ $# -gt 0 ]; do
    case $1 in
        --host) host=$2; shift ;;
        --build) build=1 ;;
        -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit ;;
        start | query | cost | events | import | statistics | calibration | try | view | see | files | resident | page)
            wanted+=("$1") ;;
        *) echo "run.sh: what is $1? (see --help)" >&2; exit 2 ;;
    esac
    shift
done
[ ${#wanted[@]} -gt 0 ] || wanted=(start query cost events import statistics calibration try)
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

for measurement in "${wanted[@]}"; do
    "bench/$measurement.sh"
done

cat "$OUT/machine.txt"
awk -F'\t' -v out="$OUT" '
    BEGIN { printf "\n%-28s %12s  %-8s %-6s  %s\n", "what", "value", "target", "", "unit" }
    {
        verdict = ""
        if ($4 != "-") {
            split($4, target, " ")
            verdict = ($3 + 0 <= target[2] + 0) ? "met" : "MISSED"
            missed += verdict == "MISSED"
        }
        printf "%-28s %12s  %-8s %-6s  %s\n", $1, $3, ($4 == "-" ? "" : $4), verdict, $2
    }
    END { exit missed > 0 }
' "$OUT/results.tsv" | tee "$OUT/table.txt"
