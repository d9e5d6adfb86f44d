#!/usr/bin/env python3
"""What the programs in the kernel cost a hit, beside those of another commit and two anchors.

    bench/programs.py disk|cpu [COMMIT] [ROUNDS]     default HEAD~1, 6 rounds

All are attached at once, in an order that changes by round, and the kernel measures them in the
same seconds (bpf_stats): so it can be told on a busy machine, too, which is cheaper. Whoever is
attached beside makes each a little dearer. Anchors: `empty` does nothing, which is what measuring
costs; `clock` reads the clock and keeps it; for disks `stamp` is one stamp and one histogram, the
least that says anything. A line is program, least, first quartile, median of 0.3 s each, ns.

The programs are those of two processors, without the recorder: nobody reads what they count.
Needs root, clang, bpftool, fio and losetup (disk).
"""

import ctypes
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SUBJECT = sys.argv[1]
COMMIT = sys.argv[2] if len(sys.argv) > 2 else "HEAD~1"
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 6
SLOT = 0.3
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
SOURCES = "crates/sources/src/bpf"
ROOT = pathlib.Path(__file__).resolve().parent.parent
HOOKS = {"disk": ("block_rq_issue", "block_rq_complete"), "cpu": ("sched_switch", "sched_wakeup")}
# Sizes and constants that the loader gives.
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
ANCHOR = """#include "kernel.h"
struct request { int tag; } KERNEL;
struct row { u64 cell[CELLS]; };
MAP(stamps, ARRAY, u32, u64, 4096);
MAP(row, ARRAY, u32, struct row, 2);
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


def compiled(source, directory, out):
    subprocess.run(["clang", "--target=bpf", "-mcpu=v3", "-O2", "-g", "-w", "-I", directory,
                    "-c", source, "-o", out], check=True)
    return out


def objects(work):
    """The object of each variant by its name."""
    made = {}
    for name, commit in (("before", COMMIT), ("now", None)):
        directory = work / name
        if commit:
            archive = subprocess.run(["git", "-C", ROOT, "archive", commit, SOURCES],
                                     check=True, capture_output=True).stdout
            directory.mkdir()
            subprocess.run(["tar", "-x", "-C", directory, "--strip-components=4"],
                           input=archive, check=True)
        else:
            shutil.copytree(ROOT / SOURCES, directory)
        for file, changes in FOR_TWO.items():
            text = (directory / file).read_text()
            for old, new in changes:
                assert old in text, f"{file} of {commit or 'the tree'} has no {old}"
                text = text.replace(old, new)
            (directory / file).write_text(text)
        made[name] = compiled(directory / f"{SUBJECT}.bpf.c", directory, work / f"{name}.o")
    anchors = {"empty": ("", ""), "clock": (CLOCK, CLOCK)}
    if SUBJECT == "disk":
        anchors["stamp"] = STAMP
    for name, (first, second) in anchors.items():
        source = work / f"{name}.c"
        hooks = HOOKS[SUBJECT]
        source.write_text(ANCHOR % (hooks[0], first, hooks[1], second))
        made[name] = compiled(source, work / "now", work / f"{name}.o")
    return made


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


def cost():
    told = json.loads(subprocess.check_output(["bpftool", "-j", "prog", "show"]))
    return {p["id"]: (p.get("run_time_ns", 0), p.get("run_cnt", 0)) for p in told}


def measured(made, pins, costs):
    """A round: all attached, three slots."""
    files, numbers = [], {}
    for name in random.sample(sorted(made), len(made)):
        subprocess.run(["bpftool", "prog", "loadall", made[name], pins / name], check=True,
                       stderr=subprocess.DEVNULL)
        for pin in (pins / name).iterdir():
            # As without events, and without devices that have no requests.
            if not any(w in pin.name for w in ("_bio_", "disk_start", "disk_direct", "cpu_first")):
                kept, number = attached(pin)
                files += kept
                numbers[f"{name}:{pin.name}"] = number
        shutil.rmtree(pins / name)
    time.sleep(0.3)
    STATS.write_text("1")
    before = cost()
    for _ in range(3):
        time.sleep(SLOT)
        now = cost()
        for name, number in numbers.items():
            spent, hits = (b - a for a, b in zip(before[number], now[number]))
            if hits > 1000:
                costs.setdefault(name, []).append(spent / hits)
        before = now
    STATS.write_text("0")
    for file in files:
        os.close(file)


def load(image):
    """A device and what loads it; for processors two processes that play with a byte."""
    if SUBJECT == "cpu":
        play = ("import os\na, b = os.pipe(), os.pipe()\n"
                "if os.fork() == 0:\n os.close(a[1])\n"
                " while os.read(a[0], 1): os.write(b[1], b'x')\n"
                "else:\n while True: os.write(a[1], b'x'); os.read(b[0], 1)")
        return None, [subprocess.Popen(["taskset", "-c", "1", sys.executable, "-c", play],
                                       stderr=subprocess.DEVNULL)]
    subprocess.run(["fallocate", "-l", "1G", image], check=True)
    device = subprocess.check_output(["losetup", "--find", "--show", image], text=True).strip()
    job = ["fio", "--name=load", f"--filename={device}", "--rw=randread", "--bs=4k", "--direct=1",
           "--ioengine=libaio", "--iodepth=32", "--runtime=3600", "--time_based", "--thread"]
    return device, [subprocess.Popen(job, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]


def main():
    was = STATS.read_text()
    image = pathlib.Path(f"/dev/shm/sonde-programs-{os.getpid()}.img")
    pins = pathlib.Path(f"/sys/fs/bpf/sonde-programs-{os.getpid()}")
    costs, device, loads = {}, None, []
    with tempfile.TemporaryDirectory() as work:
        made = objects(pathlib.Path(work))
        pins.mkdir()
        try:
            device, loads = load(image)
            time.sleep(1)
            for _ in range(ROUNDS):
                measured(made, pins, costs)
        finally:
            STATS.write_text(was)
            for process in loads:
                process.kill()
                process.wait()
            shutil.rmtree(pins, ignore_errors=True)
            if device:
                subprocess.run(["losetup", "--detach", device], check=False)
                image.unlink()
    print("program\tleast\tquarter\tmedian")
    for name, values in sorted(costs.items()):
        values.sort()
        middle = statistics.median(values)
        print(f"{name}\t{values[0]:.0f}\t{values[len(values) // 4]:.0f}\t{middle:.0f}")


main()
