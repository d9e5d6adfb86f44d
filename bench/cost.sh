#!/usr/bin/env bash
# What a sample costs, Sonde (--detail samples) beside the tools of the field, all in the same minutes.
#
#   bench/cost.sh [SAMPLES]     default 120, one a second
#
# - Processor time of a sample: of the control group of each tool, from 5 s after its start
#   until 5 s before its end, by the samples in between. What is spent at start and end
#   (inventory, sealing) is told apart, for Sonde.
# - Memory: resident 5 s before the end, and the most until then (VmHWM).
# - Stored bytes of a sample: of two runs of N and N/2 samples, the difference by N/2
#   (marginal); and all bytes of the run of N by N. Tools that write one file: its size by N.
# - The limits in ms and in % were set where `sadc -S XALL` takes 1.0 ms a sample. Where it takes
#   longer, so does every other tool; so what Sonde takes is told by what sadc does beside it, too.
#
# Needs root (control groups), sadc, collectl, atop, node_exporter, curl.

. "$(dirname "$0")/lib.sh"

samples=${1:-120}
sadc=/usr/lib/sysstat/sadc
[ -x "$sadc" ] || sadc=/usr/lib64/sa/sadc
need collectl atop prometheus-node-exporter curl "$sadc" "$sonde"
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-cost.XXXXXX")
port=19137
tools=(sonde sadc collectl atop node_exporter)
declare -A pid before

finish() {
    for tool in "${tools[@]}"; do
        if [ -n "${pid[$tool]:-}" ]; then kill "${pid[$tool]}" 2>/dev/null || true; fi
    done
    wait 2>/dev/null || true
    for tool in "${tools[@]}" fast yardstick deep; do group_remove "$tool"; done
    rm -rf "$work"
}
trap finish EXIT

# In its group, in the background; its memory at the very end goes to NAME.rusage.
begin() {
    local tool=$1
    shift
    group_make "$tool"
    group_exec "$tool" "$@" >"$work/$tool.out" 2>&1 &
    pid[$tool]=$!
}

side_by_side() {
    begin sonde "$sonde" record -q --detail samples -o "$work/run" --for "${samples}s"
    begin sadc "$sadc" -S XALL 1 "$samples" "$work/sadc.data"
    begin collectl collectl -scdnmD -i1 "-c$samples" -f "$work/collectl"
    begin atop atop -w "$work/atop.data" 1 "$samples"
    begin node_exporter prometheus-node-exporter --web.listen-address="127.0.0.1:$port"
    # One process for all scrapes: one a second would be a new process for the others to see.
    sleep 1
    curl -s --rate 60/m -o "$work/scrape" "http://127.0.0.1:$port/metrics?[1-$((samples - 4))]" &
    local scraper=$!
    sleep 4
    for tool in "${tools[@]}"; do before[$tool]=$(group_time "$tool"); done
    local span=$((samples - 10))
    sleep "$span"
    for tool in "${tools[@]}"; do
        local after
        after=$(group_time "$tool")
        result "cost.$tool.cpu" "ms a sample" \
            "$(calc "($after - ${before[$tool]}) / 1000 / $span")" \
            "$([ "$tool" = sonde ] && echo '<= 1.0' || echo -)"
        result "cost.$tool.resident" "MB" \
            "$(calc "$(memory "${pid[$tool]}" VmRSS) * 1.024 / 1000")" \
            "$([ "$tool" = sonde ] && echo '<= 16' || echo -)"
        result "cost.$tool.resident_peak" "MB" \
            "$(calc "$(memory "${pid[$tool]}" VmHWM) * 1.024 / 1000")"
        [ "$tool" = sonde ] && steady=$(calc "($after - ${before[$tool]}) / $span")
        [ "$tool" = sadc ] && yardstick=$(calc "($after - ${before[$tool]}) / $span")
    done
    result cost.sonde.of_sadc "of sadc's time, side by side" "$(calc "$steady / $yardstick")" '<= 1.0'
    wait "$scraper" || true
    kill "${pid[node_exporter]}"
    wait "${pid[sonde]}"
    result cost.sonde.fixed "ms a run, start and end" \
        "$(calc "($(group_time sonde) - $steady * $samples) / 1000")"
    sleep 2
    for tool in "${tools[@]}"; do
        result "cost.$tool.cpu_whole" "ms a sample, start and end too" \
            "$(calc "$(group_time "$tool") / 1000 / $samples")"
    done
}

stored() {
    result cost.sadc.stored "bytes a sample" "$(calc "$(stat -c %s "$work/sadc.data") / $samples")"
    result cost.atop.stored "bytes a sample" "$(calc "$(stat -c %s "$work/atop.data") / $samples")"
    local collectl
    collectl=$(find "$work" -name 'collectl*' -type f ! -name '*.out' -printf '%s\n' |
        awk '{ s += $1 } END { print s + 0 }')
    result cost.collectl.stored "bytes a sample, compressed" "$(calc "$collectl / $samples")"
    result cost.node_exporter.stored "bytes a scrape, as text" "$(stat -c %s "$work/scrape")"
    local half=$((samples / 2)) whole least
    # Alone, and its peak with sealing is that of the whole process.
    /usr/bin/time -f %M -o "$work/peak" "$sonde" record -q --detail samples -o "$work/half" --for "${half}s"
    whole=$(bytes_of "$work/run")
    least=$(bytes_of "$work/half")
    result cost.sonde.stored "bytes a sample, marginal" "$(calc "($whole - $least) / ($samples - $half)")" '<= 1500'
    result cost.sonde.stored_whole "bytes a sample, whole directory of $samples" "$(calc "$whole / $samples")"
    result cost.sonde.sealing_peak "MB, most of the whole process, sealing too" \
        "$(calc "$(cat "$work/peak") * 1.024 / 1000")"
    find "$work/run" -type f -printf '%s\t%f\n' | sort -n > "$out/stored-files.tsv"
    cp "$work/run/run.json" "$out/cost-run.json"
}

# A hundred samples a second, for 30 s, and sadc beside it with one.
fast() {
    begin fast "$sonde" record -q --detail samples -o "$work/fast" --every 10ms --for 30s
    begin yardstick "$sadc" -S XALL 1 32 "$work/yardstick.data"
    sleep 2
    local from at beside share
    from=$(group_time fast)
    beside=$(group_time yardstick)
    at=$(date +%s%N)
    sleep 26
    share=$(calc "($(group_time fast) - $from) * 1000 / ($(date +%s%N) - $at) * 100")
    beside=$(calc "($(group_time yardstick) - $beside) / 1000 / 26")
    result cost.fast.cpu "% of a core at 100 samples a second" "$share" '<= 5'
    result cost.fast.sadc "ms a sample of sadc beside it" "$beside"
    result cost.fast.of_sadc "% of a core, by ms that sadc takes" "$(calc "$share / $beside")" '<= 5'
    result cost.fast.resident_peak MB "$(calc "$(memory "${pid[fast]}" VmHWM) * 1.024 / 1000")" '<= 16'
    wait "${pid[fast]}"
    kill "${pid[yardstick]}" 2>/dev/null || true
    cp "$work/fast/run.json" "$out/fast-run.json"
    awk '/"late"|"missed"/' "$work/fast/run.json" >&2
}

# With everything from the kernel, as is the default, for 30 s.
deep() {
    begin deep "$sonde" record -q -o "$work/deep" --for 30s
    sleep 4
    local from
    from=$(group_time deep)
    sleep 20
    result cost.deep.cpu "ms a sample, with eBPF" "$(calc "($(group_time deep) - $from) / 1000 / 20")"
    result cost.deep.resident MB "$(calc "$(memory "${pid[deep]}" VmRSS) * 1.024 / 1000")" '<= 40'
    wait "${pid[deep]}"
    cp "$work/deep/run.json" "$out/deep-run.json"
}

side_by_side
stored
fast
deep
