#!/usr/bin/env bash
# What other kernels have and this one may lack: recorded there, compared here.
#
#   scripts/other-kernel/all.sh SONDE
set -eu
sonde=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
status=0
for what in disks nfs rest; do
    export RESULT
    RESULT=$(mktemp -d)
    "$here/../other-kernel.sh" python3 "$here/$what.py" record "$sonde" /result || status=1
    python3 "$here/$what.py" compare "$sonde" "$RESULT" || status=1
    rm -rf "$RESULT"
done
exit $status
