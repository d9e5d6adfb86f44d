#!/usr/bin/env bash
# How fast the page's server answers, and what a live page costs.
#
#   bench/view.sh [ROUNDS] [PART]     default 5, of which the median is the result; PART is
#                                     "recorded" or "live", otherwise both
#
# Three runs are written once, by crates/run/examples/page.rs, to target/bench: an hour of samples
# with 10 million disk events (takes a minute), and a day of 2,000 series at 1 s (takes some
# minutes and, while writing, 8 GB), events of a million files. The server's answers are timed by curl, each question new
# to the server; a first picture is a fresh server's runs, catalog and four panels.
# Needs curl and, for the live part, root for the deepest look.

. "$(dirname "$0")/lib.sh"

rounds=${1:-5}
part=${2:-both}
need "$sonde" curl
mkdir -p "$root/target/bench"

example() { (cd "$root" && cargo run --release --quiet -p run --example page -- "$@") >&2; }

events=$root/target/bench/page-events
day=$root/target/bench/page-day
files=$root/target/bench/page-files
prepare() {
    [ -f "$events/disk_event.parquet" ] || { rm -rf "$events"; example events "$events"; }
    [ -f "$day/disk.parquet" ] || { rm -rf "$day"; example series "$day"; }
    [ -f "$files/disk_event.parquet" ] || { rm -rf "$files"; example files "$files"; }
}

work=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || { kill -TERM "$server" 2>/dev/null; wait "$server" 2>/dev/null; } || true
    server=
}
trap 'stop; rm -rf "$work"' EXIT

# Starts `sonde view "$@"`; its address is in $base, a session in $work/cookies.
serve() {
    stop
    : > "$work/address"
    "$sonde" view "$@" --no-open > "$work/address" 2> "$work/said" &
    server=$!
    while [ ! -s "$work/address" ]; do
        kill -0 "$server" 2>/dev/null || { cat "$work/said" >&2; exit 1; }
        sleep 0.01
    done
    local address
    address=$(head -n 1 "$work/address")
    base=${address%%/\?*}
    rm -f "$work/cookies"
    curl -s -o /dev/null -c "$work/cookies" "$address"
}

# Seconds that a request takes; it must be answered.
ask() {
    local path=$1
    shift
    curl -sf -G -o "$work/answer" -w '%{time_total}\n' -b "$work/cookies" "$base/api/v1/$path" "$@"
}

timed() { # name, target, path, arguments of curl
    local name=$1 target=$2 path=$3 times
    shift 3
    times=$(mktemp)
    for round in $(seq "$rounds"); do
        # Another width each time: none is kept.
        ask "$path" "$@" -d width=$((1000 + round)) >> "$times"
    done
    result "view.$name" "s" "$(median < "$times")" "$target"
    rm -f "$times"
}

panel() { ask eval --data-urlencode "expr=$1" -d width=1200 > /dev/null & }

first() { # name, target, run, expressions
    local name=$1 target=$2 run=$3 times
    shift 3
    times=$(mktemp)
    for _ in $(seq "$rounds"); do
        serve "$run"
        local from=$EPOCHREALTIME
        ask runs > /dev/null
        ask catalog > /dev/null
        local waiting=()
        for expression in "$@"; do
            panel "$expression"
            waiting+=($!)
        done
        wait "${waiting[@]}"
        calc "$EPOCHREALTIME - $from" >> "$times"
    done
    result "view.$name" "s" "$(median < "$times")" "$target"
    rm -f "$times"
}

recorded() {
    prepare
    first picture '<= 1.0' "$events" 'disk.bytes by device' 'disk.ios by op' 'disk.ios by latency' \
        'disk.mean_latency by device'
    timed heat '<= 0.3' eval --data-urlencode 'expr=disk.ios by latency'
    timed heat.events - eval --data-urlencode 'expr=disk.ios by latency where process = fio[3]'
    timed drill '<= 0.6' eval \
        --data-urlencode 'expr=disk.ios by file where latency in 20ms..200ms and time in 1790s..1840s'
    timed drill.all '<= 0.6' eval --data-urlencode 'expr=disk.ios by file where latency > 20ms'
    timed slowest '<= 0.6' events -d subject=disk --data-urlencode 'where=latency > 20ms'
    serve "$files"
    timed files - eval --data-urlencode 'expr=disk.ios by file'
    result view.files.memory 'MB, the largest, with a million files' \
        "$(calc "$(memory "$server" VmHWM) * 1.024 / 1000")" '<= 1500'
    first day '<= 1.5' "$day" 'disk.bytes' 'disk.mean_latency'
    timed day.series - eval --data-urlencode 'expr=disk.bytes by device, op'
}

[ "$part" = live ] || recorded
[ "$part" != recorded ] || exit 0

# Live: processor time of the process in 30 s, less that without a page.
live() { # pages; answers with seconds of processor time
    local pages=$1 clients=() before after
    serve --detail samples
    sleep 5
    for _ in $(seq "$pages"); do
        page & clients+=($!)
    done
    before=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
    sleep 30
    after=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
    [ ${#clients[@]} -eq 0 ] || kill "${clients[@]}" 2>/dev/null || true
    # What runs here is a shell of its own: at its end nobody else knows the server.
    stop
    calc "($after - $before) / $(getconf CLK_TCK)"
}

# A page with four panels of five minutes, asked anew each second.
page() {
    while :; do
        for expression in 'cpu.utilisation by mode' 'disk.bytes by device, op' \
            'net.bytes by interface, direction' 'process.time by process'; do
            curl -s -G -o /dev/null -b "$work/cookies" "$base/api/v1/eval" -d run=live \
                -d width=600 --data-urlencode "expr=$expression"
        done
        sleep 1
    done
}

alone=$(live 0)
one=$(live 1)
ten=$(live 10)
stop
result view.live.alone 'of one processor' "$(calc "$alone / 30")" -
result view.live.one 'of one processor, beyond that' "$(calc "($one - $alone) / 30")" '<= 0.01'
result view.live.ten 'of one processor, beyond that' "$(calc "($ten - $alone) / 30")" '<= 0.03'
