#!/usr/bin/env bash
# The table of a measurement: each result beside its target, and beside the newest kept one of the
# same machine.
#
#   bench/table.sh DIR [KEPT]     default bench/runs; results are those of DIR/results.tsv
#
# The same machine is one with the same processors (machine.txt), whatever it was called. `ratio`
# is this result by that one; beyond 1.25 times to the worse a line WORSE says so, as information:
# machines differ from hour to hour. A result that is no number meets no target.
# Ends with status 1 if a target was missed.

set -euo pipefail

dir=$1
kept=${2:-$(dirname "$0")/runs}

# A fact of a run's machine, as it is told first.
fact() { sed -n "/^$2: /{s///p;q}" "$1/machine.txt"; }

# The kept runs of this machine, the newest first.
kept_runs() {
    local here
    here=$(fact "$dir" processor)
    for run in "$kept"/*/; do
        run=${run%/}
        if [ -f "$run/machine.txt" ] && [ -f "$run/results.tsv" ] &&
            [ "$(realpath "$run")" != "$(realpath "$dir")" ] &&
            [ "$(fact "$run" processor)" = "$here" ]; then
            printf '%s\t%s\n' "$(fact "$run" date)" "$run"
        fi
    done | sort -r | cut -f 2
}

# Name, value, run: of each name the newest.
before() {
    while read -r run; do
        awk -F'\t' -v run="$(basename "$run")" '{ print $1 "\t" $3 "\t" run }' "$run/results.tsv"
    done < <(kept_runs) | awk -F'\t' '!seen[$1]++'
}

awk -F'\t' '
    function number(text) { return text ~ /^-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$/ }
    function met(value, target, bound) {
        if (!number(value)) return 0
        if (target == "<=") return value + 0 <= bound
        if (target == ">=") return value + 0 >= bound
        if (target == "within") return value + 0 <= bound && value + 0 >= -bound
        return 0
    }
    BEGIN { printf "\n%-28s %12s  %-9s %-6s  %6s  %s\n", "what", "value", "target", "", "ratio", "unit" }
    part == "kept" { was[$1] = $2; of[$1] = $3; next }
    {
        verdict = ratio = ""
        split($4, target, " ")
        if ($4 != "-") {
            verdict = met($3, target[1], target[2] + 0) ? "met" : "MISSED"
            missed += verdict == "MISSED"
        }
        if (number($3) && number(was[$1]) && $3 > 0 && was[$1] > 0) {
            ratio = sprintf("%.2f", $3 / was[$1])
            times = target[1] == ">=" ? was[$1] / $3 : $3 / was[$1]
            if ((target[1] == "<=" || target[1] == ">=") && times > 1.25)
                worse = worse sprintf("WORSE %s: %s, was %s in %s\n", $1, $3, was[$1], of[$1])
        }
        printf "%-28s %12s  %-9s %-6s  %6s  %s\n", $1, $3, ($4 == "-" ? "" : $4), verdict, ratio, $2
    }
    END { printf "%s", worse; exit missed > 0 }
' part=kept <(before) part=now "$dir/results.tsv"
