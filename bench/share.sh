#!/usr/bin/env bash
# What looking inside takes of the processors' time under the load of see.sh, as a share of the time in
# which they are busy: samples of `perf` by the clock that fall into programs in the kernel, with what
# calls them, and into the recorder. Where the machine's speed changes from second to second, as that
# of a virtual machine with neighbours, this tells apart what I/Os lost do not.
#
#   bench/share.sh [ROUNDS]     default 3 of each detail, in turn; SONDE=... for another binary
#
# The clock's samples come by interrupt, so that what runs while these are held off is not in it:
# programs at switches of tasks (sched.sh has those).
#
# Needs root, fio, losetup and perf.

. "$(dirname "$0")/lib.sh"

rounds=${1:-3}
need fio losetup perf "$sonde"
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-share.XXXXXX")
file=/dev/shm/sonde-share-$$.img
fallocate -l 1G "$file"
device=$(losetup --find --show "$file")
recorder=
finish() {
    [ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
    wait 2>/dev/null || true
    losetup --detach "$device" || true
    rm -rf "$file" "$work"
}
trap finish EXIT

load() {
    fio --name=share --filename="$device" --rw=randread --bs=4k --direct=1 --ioengine=libaio \
        --iodepth=32 --runtime="$1" --time_based --output-format=terse 2>/dev/null | cut -d';' -f8
}

# Percent of all samples whose symbol matches $1; with $2 `children` also those that it calls.
samples_in() {
    perf report -i "$work/data" --stdio -g none --percent-limit 0 "--${2:-no-children}" \
        --sort "${3:-symbol}" 2>/dev/null | awk -v what="$1" '$0 !~ /^#/ && $0 ~ what { s += $1 } END { print s + 0 }'
}

shares() {
    local detail=$1 idle iops
    rm -rf "$work/run"
    "$sonde" record -q --detail "$detail" --event-budget 100% -o "$work/run" --for 12s &
    recorder=$!
    sleep 1.5
    load 5 > "$work/iops" &
    local busy=$!
    sleep 0.5
    perf record -q -g -a -e cpu-clock -F 4000 -o "$work/data" -- sleep 4 2>/dev/null
    wait "$busy"
    kill -INT "$recorder"
    wait "$recorder" || true
    recorder=
    iops=$(cat "$work/iops")
    idle=$(samples_in 'safe_halt|default_idle')
    printf '%s\t%s\t%s\t%s\n' "$detail" "$iops" \
        "$(calc "$(samples_in 'bpf_trace_run' children) / (100 - $idle) * 100")" \
        "$(calc "$(samples_in '^ .* sonde *$' no-children comm) / (100 - $idle) * 100")" \
        | tee -a "$out/share.tsv" >&2
}

printf 'detail\tiops\tprograms\trecorder\n' > "$out/share.tsv"
for _ in $(seq "$rounds"); do
    for detail in distributions events; do shares "$detail"; done
done
of() { awk -F'\t' -v detail="$1" -v at="$2" '$1 == detail { print $at }' "$out/share.tsv" | median; }
for detail in distributions events; do
    result "share.$detail.programs" "% of the busy time" "$(of "$detail" 3)"
    result "share.$detail.recorder" "% of the busy time" "$(of "$detail" 4)"
done
