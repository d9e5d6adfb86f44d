#!/usr/bin/env python3
"""Small programs in the kernel, to see beside them what others cost.

    bench/anchors.py disk|cpu NAME     attached until it is ended; says `attached` when it is

NAME: `empty` does nothing, which is what measuring costs (two programs, at the hooks where a
request or a switch begins and ends); `clock` reads the clock and keeps it. For disks, `stamp` is
one stamp in an array and one histogram, the least that says anything; `hash` keeps its stamps in
a hash by the request's address, as most agents and scripts do.

Needs root, clang and bpftool.
"""

import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCES = "crates/sources/src/bpf"
ROOT = pathlib.Path(__file__).resolve().parent.parent
HOOKS = {"disk": ("block_rq_issue", "block_rq_complete"), "cpu": ("sched_switch", "sched_wakeup")}
SOURCE = """#include "kernel.h"
struct request { int tag; } KERNEL;
struct row { u64 cell[CELLS]; };
MAP(stamps, ARRAY, u32, u64, 4096);
MAP(row, ARRAY, u32, struct row, 2);
MAP(begun, HASH, u64, u64, 10240);
MAP(cells, PERCPU_ARRAY, u32, u64, CELLS);
SEC("tp_btf/%s") int first(u64 *ctx) { %s return 0; }
SEC("tp_btf/%s") int second(u64 *ctx) { %s return 0; }
char gpl[] SEC("license") = "GPL";
"""
ROW = "u32 cpu = cpu_number() & 1; struct row *r = map_lookup(&row, &cpu);"
CLOCK = ROW + "if (r) r->cell[0] = ktime();"
PLACE = ("struct request *rq = (void *)ctx[0]; u32 place = rq->tag & 4095;"
         "u64 *stamp = map_lookup(&stamps, &place);")
STAMP = (PLACE + "if (stamp) *stamp = ktime();",
         PLACE + ROW + "if (r && stamp) r->cell[grid(ktime() - *stamp) & (CELLS - 1)]++;")
HASHED = ("u64 rq = ctx[0], now = ktime(); map_update(&begun, &rq, &now, 0);",
          "u64 rq = ctx[0], *at = map_lookup(&begun, &rq);"
          "if (at) {"
          " u32 cell = grid(ktime() - *at) & (CELLS - 1);"
          " u64 *count = map_lookup(&cells, &cell);"
          " if (count) (*count)++;"
          " map_delete(&begun, &rq);"
          "}")
ANCHORS = {
    "disk": {"empty": ("", ""), "clock": (CLOCK, CLOCK), "stamp": STAMP, "hash": HASHED},
    "cpu": {"empty": ("", ""), "clock": (CLOCK, CLOCK)},
}


def compiled(source, directory, out):
    subprocess.run(["clang", "--target=bpf", "-mcpu=v3", "-O2", "-g", "-w", "-I", directory,
                    "-c", source, "-o", out], check=True)
    return out


def anchor(subject, name, directory, work):
    """The object of an anchor, made with the headers in `directory`."""
    first, second = ANCHORS[subject][name]
    hooks = HOOKS[subject]
    source = work / f"{name}.c"
    source.write_text(SOURCE % (hooks[0], first, hooks[1], second))
    return compiled(source, directory, work / f"{name}.o")


# Sizes and constants that the loader gives, for two processors.
FOR_TWO = {
    "kernel.h": [("lanes = 1;", "lanes = 2;"), ("lane_mask = 0;", "lane_mask = 1;"),
                 ("lanes_shared = 1;", "lanes_shared = 0;")],
    "disk_devices.h": [("struct block, 1)", "struct block, 16)"),
                       ("struct weights, 1)", "struct weights, 16)"),
                       ("struct all_sums, DEVICES)", "struct all_sums, DEVICES * 2)"),
                       ("all_blocks = 1;", "all_blocks = 8;"),
                       ("all_weights = 1;", "all_weights = 8;")],
    "cpu.bpf.c": [("struct running, 1)", "struct running, 2)"),
                  ("struct cut, 1)", "struct cut, 2)")],
}


def for_two(directory):
    """Changes the sources there to what two processors need."""
    for file, changes in FOR_TWO.items():
        text = (directory / file).read_text()
        for old, new in changes:
            assert old in text, f"{file} in {directory} has no {old}"
            text = text.replace(old, new)
        (directory / file).write_text(text)


def is_apart(program):
    """Whether a program is only for events, or for devices that have no requests."""
    apart = ("_bio_", "disk_getrq", "disk_start", "disk_direct", "cpu_first")
    return any(part in program for part in apart)


LIBC = ctypes.CDLL(None, use_errno=True)


def bpf(command, *words):
    attributes = (ctypes.c_uint64 * 16)(*words)
    made = LIBC.syscall(321, command, attributes, ctypes.sizeof(attributes))
    if made < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command})")
    return made


def attached(pin):
    """Files that keep the pinned program attached, and its number."""
    path = ctypes.create_string_buffer(bytes(pin))
    program = bpf(7, ctypes.addressof(path))
    link = bpf(17, 0, program)
    info = pathlib.Path(f"/proc/self/fdinfo/{program}").read_text().split()
    return [link, program], int(info[info.index("prog_id:") + 1])


def attach_all(made, pins, wanted=lambda name: True):
    """Attaches the programs of an object; their files, and their numbers by name."""
    files, numbers = [], {}
    subprocess.run(["bpftool", "prog", "loadall", made, pins], check=True,
                   stderr=subprocess.DEVNULL)
    for pin in pins.iterdir():
        if wanted(pin.name):
            kept, numbers[pin.name] = attached(pin)
            files += kept
    shutil.rmtree(pins)
    return files, numbers


def main():
    subject, name = sys.argv[1:]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
    pins = pathlib.Path(f"/sys/fs/bpf/sonde-anchor-{os.getpid()}")
    with tempfile.TemporaryDirectory() as work:
        made = anchor(subject, name, ROOT / SOURCES, pathlib.Path(work))
        attach_all(made, pins)
    print("attached", flush=True)
    signal.sigwait([signal.SIGTERM, signal.SIGINT])


if __name__ == "__main__":
    main()
