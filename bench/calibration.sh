#!/usr/bin/env bash
# How often what the statistics say is wrong, on simulated runs whose truth is known.
#
#   bench/calibration.sh [COMPARISONS]     default 20000 a cheap cell; at least 2,000 a cell
#
# The cells are those of crates/analysis/tests/calibration: false alarms, coverage of intervals
# and bands, power, claims of equivalence. Raw shares go to calibration.tsv.

. "$(dirname "$0")/lib.sh"

comparisons=${1:-20000}
calibrate=${CALIBRATE:-$root/target/release/examples/calibrate}
if [ ! -x "$calibrate" ]; then
    (cd "$root" && cargo build --release -p analysis --example calibrate) >&2
fi
printf 'cell\tcomparisons\tshare\tleast\tmost\tverdict\tabout\n' > "$out/calibration.tsv"
"$calibrate" "$comparisons" | sort >> "$out/calibration.tsv"
result calibration.cells "cells" "$(($(wc -l < "$out/calibration.tsv") - 1))"
result calibration.outside "cells whose share is not as promised" \
    "$(awk -F'\t' '$6 == "OUTSIDE"' "$out/calibration.tsv" | wc -l)" '<= 0'
awk -F'\t' '$6 == "OUTSIDE" { print "calibration: outside: " $0 }' "$out/calibration.tsv" >&2
