#!/usr/bin/env bash
# What `--with file` adds to a system call, in processor time of the caller: without it, with
# the tracepoint of one system call in use, and with it; in turn, the median of the rounds.
# Needs root.

. "$(dirname "$0")/lib.sh"

need "$sonde" cc perf
work=$(mktemp -d)
file=/dev/shm/sonde-bench-$$
trap 'rm -rf "$work" "$file"' EXIT
cc -O2 -o "$work/calls" "$bench/files.c"

with_file() {
    "$sonde" record -q -o "$work/run-$1" --with file --sources bpf-file --detail distributions \
        -- "$work/calls" "$file"
}

with_tracepoint() {
    perf stat -a -e syscalls:sys_enter_openat,syscalls:sys_exit_openat -o /dev/null \
        -- "$work/calls" "$file"
}

for round in 1 2 3 4 5; do
    "$work/calls" "$file" | sed 's/^/none\t/' >> "$out/files.tsv"
    with_tracepoint | sed 's/^/tracepoint\t/' >> "$out/files.tsv"
    with_file "$round" | sed 's/^/file\t/' >> "$out/files.tsv"
done
for way in none tracepoint file; do
    for call in getppid read_socket pread access open_close; do
        value=$(awk -v way=$way -v call=$call '$1 == way && $2 == call {print $3}' \
            "$out/files.tsv" | sort -g | sed -n 3p)
        result "files.$call.$way" ns "$value"
    done
done
