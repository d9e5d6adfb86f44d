#!/usr/bin/env bash
# How long `sonde --version` takes, as a process: the median of many.

. "$(dirname "$0")/lib.sh"

need "$sonde"
walls=$(mktemp)
trap 'rm -f "$walls"' EXIT
for _ in $(seq 51); do
    from=$EPOCHREALTIME
    "$sonde" --version > /dev/null
    calc "($EPOCHREALTIME - $from) * 1000" >> "$walls"
done
result start.version ms "$(sort -g "$walls" | sed -n 26p)" '<= 10'
