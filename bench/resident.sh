#!/usr/bin/env bash
# Resident memory of a recorder with everything on: 16 disks that are read, written, flushed and
# trimmed, 500 control groups that all run, events of disks, networks, TCP and files.
#
#   bench/resident.sh [SECONDS]     default 20 s of load
#
# Its parts: memory of its own; what is mapped, that is the binary, and the rings between the
# programs in the kernel and it, whose pages count twice (each ring is mapped twice in a row).
#
# Needs root, fio, losetup, blkdiscard.

. "$(dirname "$0")/lib.sh"

seconds=${1:-20}
need fio losetup blkdiscard "$sonde"
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-resident.XXXXXX")
backing=/dev/shm/sonde-resident-$$
mkdir "$backing"
devices=()
# Where there are several hierarchies the one of processors counts, too.
parents=("$groups/sonde-resident-$$")
[ "$groups" = /sys/fs/cgroup ] || [ ! -d /sys/fs/cgroup/cpu ] ||
    parents+=("/sys/fs/cgroup/cpu/sonde-resident-$$")
finish() {
    for device in "${devices[@]}"; do losetup --detach "$device" || true; done
    for parent in "${parents[@]}"; do
        rmdir "$parent"/g* "$parent" 2>/dev/null || true
    done
    rm -rf "$backing" "$work"
}
trap finish EXIT
for i in $(seq 16); do
    truncate -s 64M "$backing/$i"
    devices+=("$(losetup --find --show "$backing/$i")")
done
for parent in "${parents[@]}"; do
    for i in $(seq 500); do mkdir -p "$parent/g$i"; done
done

"$sonde" record -q --events all --with file -o "$work/run" --for $((seconds + 6))s &
recorder=$!
sleep 3
jobs=()
for device in "${devices[@]}"; do
    jobs+=("--name=${device#/dev/}" "--filename=$device")
    blkdiscard --offset 0 --length 1MiB "$device"
done
fio --rw=randrw --bsrange=4k-64k --iodepth=4 --ioengine=libaio --direct=1 --time_based \
    --runtime="$seconds" --fsync=50 --rate_iops=300 --thread "${jobs[@]}" >/dev/null 2>&1 &
# One process that goes through all groups, and back.
(
    end=$((SECONDS + seconds))
    while [ $SECONDS -lt $end ]; do
        for i in $(seq 500); do
            for parent in "${parents[@]}"; do echo $BASHPID >"$parent/g$i/cgroup.procs"; done
        done
    done
    for parent in "${parents[@]}"; do echo $BASHPID >"$(dirname "$parent")/cgroup.procs"; done
) &
mover=$!
sleep $((seconds - 1))
megabytes() { calc "$(memory "$recorder" "$1") * 1.024 / 1000"; }
result resident.all "MB, everything on, 16 disks, 500 groups" "$(megabytes VmHWM)" '<= 40'
result resident.own "MB of its own" "$(megabytes RssAnon)"
result resident.mapped "MB mapped: the binary, and rings twice" "$(megabytes RssFile)"
wait "$mover"
wait "$recorder"
seen=$("$sonde" get "$work/run" 'cpu.time by cgroup' --csv | grep -c "sonde-resident-$$/g" || true)
result resident.groups "groups in the run" "$seen" '>= 500'
# Or its memory would be that of fewer.
seen=$("$sonde" get "$work/run" 'disk.ios by device, op where layer = stacked' --csv | awk -F, -v devices="${devices[*]#/dev/}" '
    BEGIN { split(devices, list, " "); for (i in list) wanted[list[i]] }
    $1 in wanted && $2 == "read" && $3 > 0 { n++ } END { print n + 0 }')
result resident.devices "devices that were read, in the run" "$seen" '>= 16'
