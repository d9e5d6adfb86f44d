#!/usr/bin/env python3
"""What the programs in the kernel cost a hit, beside those of another commit and anchors.

    bench/programs.py disk|cpu [COMMIT] [ROUNDS]     default HEAD~1, 6 rounds

All are attached at once, in an order that changes by round, and the kernel measures them in the
same seconds (bpf_stats): so it can be told on a busy machine, too, which is cheaper. Whoever is
attached beside makes each a little dearer. The anchors are those of bench/anchors.py, without
`hash`, which would make all others dearer. A line is program, least, first quartile, median of
0.3 s each, ns.

The programs are those of two processors, without the recorder: nobody reads what they count.
Needs root, clang, bpftool, fio and losetup (disk).
"""

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

from anchors import ANCHORS, ROOT, SOURCES, anchor, attach_all, compiled, for_two, is_apart

SUBJECT = sys.argv[1]
COMMIT = sys.argv[2] if len(sys.argv) > 2 else "HEAD~1"
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 6
SLOT = 0.3
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")


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
        for_two(directory)
        made[name] = compiled(directory / f"{SUBJECT}.bpf.c", directory, work / f"{name}.o")
    for name in ANCHORS[SUBJECT]:
        if name != "hash":
            made[name] = anchor(SUBJECT, name, work / "now", work)
    return made


def cost():
    told = json.loads(subprocess.check_output(["bpftool", "-j", "prog", "show"]))
    return {p["id"]: (p.get("run_time_ns", 0), p.get("run_cnt", 0)) for p in told}


def measured(made, pins, costs):
    """A round: all attached, three slots."""
    files, numbers = [], {}
    for name in random.sample(sorted(made), len(made)):
        kept, found = attach_all(made[name], pins / name, lambda n: not is_apart(n))
        files += kept
        numbers |= {f"{name}:{program}": number for program, number in found.items()}
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
