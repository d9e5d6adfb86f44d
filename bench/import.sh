#!/usr/bin/env bash
# How long an import of a day of `iostat` takes, everything of it and sealed, against gawk
# that filters one device from the same text.
#
#   bench/import.sh [ROUNDS]     default 5; side by side, the median is the result
#
# The text is made once, by bench/import.awk, in target/bench/. Then what parsing alone takes of one
# processor, of that and of blkparse's text, and how much memory a gigabyte in a pipe takes.

. "$(dirname "$0")/lib.sh"

rounds=${1:-5}
need "$sonde" gawk /usr/bin/time
text=$root/target/bench/iostat-nmzxc.txt
if [ ! -f "$text" ]; then
    mkdir -p "$(dirname "$text")"
    gawk -f "$root/bench/import.awk" >"$text"
fi
result import.size "MB of text" "$(calc "$(stat -c %s "$text") / 1e6")"
cat "$text" >/dev/null

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
seconds_of() { # the command's wall time
    local from=$EPOCHREALTIME
    "$@" >/dev/null 2>&1
    calc "$EPOCHREALTIME - $from"
}
filters=() compared=() imports=() memory=()
for ((i = 0; i < rounds; i++)); do
    filters+=("$(seconds_of gawk '/c0t3d0/ { print $1, $2, $3, $4, $8 }' "$text")")
    # As a script for gnuplot does it: the device's own rows only, by the number of the report.
    compared+=("$(seconds_of gawk '$1 == "r/s" { n++ } $11 == "c0t3d0" { print n, $1, $2, $3, $4, $8 }' "$text")")
    imports+=("$(seconds_of "$sonde" import "$text" --every 1s --processors 4 -o "$made/$i")")
    rm -rf "${made:?}/$i"
    memory+=("$(/usr/bin/time -f %M "$sonde" import "$text" --every 1s --processors 4 -o "$made/m" \
        2>&1 >/dev/null | tail -1)")
    rm -rf "${made:?}/m"
done
filter=$(printf '%s\n' "${filters[@]}" | median)
by_field=$(printf '%s\n' "${compared[@]}" | median)
import=$(printf '%s\n' "${imports[@]}" | median)
result import.filter "s, gawk for one device" "$filter"
result import.filter_by_field "s, gawk that counts reports and compares the device" "$by_field"
result import.all "s, everything, sealed" "$import" '<= 0.35'
result import.ratio "of gawk's time" "$(calc "$import / $filter")" '<= 0.5'
result import.ratio_by_field "of gawk's time that compares" "$(calc "$import / $by_field")"
result import.memory "MB resident" "$(calc "$(printf '%s\n' "${memory[@]}" | median) / 1e3")" '<= 150'

# A short text: what a directory of many takes for each.
head -c 300000 "$text" >"$made/short.txt"
short=$(for ((i = 0; i < 3 * rounds; i++)); do
    seconds_of "$sonde" import "$made/short.txt" --every 1s --processors 4 -o "$made/s$i"
    rm -rf "${made:?}/s$i"
done | median)
result import.short "ms, 300 kB, everything, sealed" "$(calc "$short * 1e3")"

# Parsing alone: rows are dropped as they come. The best of each example's rounds.
parsed() {
    cargo run --release --quiet -p formats --example "$1" \
        | grep -oE '[0-9]+ MB/s( of processor time)?$' | sort -g | tail -1 | cut -d' ' -f1
}
result import.parser "MB/s of a processor" "$(parsed speed)" '>= 600'
result import.blkparse "MB/s of a processor, blkparse's text" "$(parsed blkparse_speed)" '>= 150'

# A gigabyte that comes in a pipe: ten such days, one after another.
for _ in {1..10}; do cat "$text"; done \
    | /usr/bin/time -f %M -o "$made/peak" \
        "$sonde" import --as iostat-solaris --every 1s --processors 4 -o "$made/pipe" - >/dev/null 2>&1
result import.pipe "MB resident, a gigabyte in a pipe" "$(calc "$(tail -1 "$made/peak") / 1e3")" '<= 150'

# A loop's output of three tools, whose lines are told apart.
mixed=$root/target/bench/mixed.txt
[ -f "$mixed" ] || gawk -f "$root/bench/mixed.awk" >"$mixed"
seconds=$(for ((i = 0; i < rounds; i++)); do
    seconds_of "$sonde" import "$mixed" --every 1s -o "$made/mixed$i"
    rm -rf "${made:?}/mixed$i"
done | median)
result import.mixed "MB/s, three tools in one file" "$(calc "$(stat -c %s "$mixed") / 1e6 / $seconds")"
