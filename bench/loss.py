#!/usr/bin/env python3
"""How many I/Os a device makes less while programs are attached, in one load.

    bench/loss.py [ROUNDS] [NAME=DIRECTORY...]     default 15 rounds

A load of random reads goes on all the time, on a loop device over tmpfs; programs are loaded before, and
attached for half a second each, by turns in an order that changes, with half a second without any between.
So each is compared with the seconds beside it: fio that starts anew makes a tenth more or less by itself.

Programs: the anchors of bench/anchors.py (`empty`, `clock`, `stamp`, `hash`), those of disks and of
processors (`disk`, `cpu`, both; without events and without the recorder), and those of disks in other
directories, to compare with. `none` is nothing, and says how much is chance. A line is the percentage of
I/Os lost: median, first and third quartile.

Needs root, clang, bpftool, fio and losetup.
"""

import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from anchors import ANCHORS, ROOT, SOURCES, anchor, attached, compiled, for_two, is_apart

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 15
OTHERS = dict(given.split("=") for given in sys.argv[2:])
SETTLE, SLOT = 0.1, 0.4


class Programs:
    """Programs of an object, loaded: to attach them is quick."""

    def __init__(self, made, pins):
        subprocess.run(["bpftool", "prog", "loadall", made, pins], check=True,
                       stderr=subprocess.DEVNULL)
        self.pins = [pin for pin in pins.iterdir() if not is_apart(pin.name)]

    def attach(self):
        return [file for pin in self.pins for file in attached(pin)[0]]


def loaded(work, pins):
    """What is attached in each kind of slot, by its name."""
    now = work / "now"
    shutil.copytree(ROOT / SOURCES, now)
    for_two(now)
    make = lambda name, made: Programs(made, pins / name)
    kinds = {name: [make(name, anchor("disk", name, now, work))] for name in ANCHORS["disk"]}
    for name in ("disk", "cpu"):
        kinds[name] = [make(name, compiled(now / f"{name}.bpf.c", now, work / f"{name}.o"))]
    kinds["both"] = kinds["disk"] + kinds["cpu"]
    for name, directory in OTHERS.items():
        shutil.copytree(directory, work / name)
        for_two(work / name)
        kinds[name] = [make(name, compiled(work / name / "disk.bpf.c", work / name, work / f"{name}.o"))]
    return kinds | {"none": []}


def reads(device):
    lines = (line.split() for line in pathlib.Path("/proc/diskstats").read_text().splitlines())
    return next(int(line[3]) for line in lines if line[2] == device)


def rate(device, programs):
    """Reads a second with those attached."""
    files = [file for program in programs for file in program.attach()]
    time.sleep(SETTLE)
    begun, before = time.monotonic(), reads(device)
    time.sleep(SLOT)
    found = (reads(device) - before) / (time.monotonic() - begun)
    for file in files:
        os.close(file)
    return found


def main():
    image = pathlib.Path(f"/dev/shm/sonde-loss-{os.getpid()}.img")
    pins = pathlib.Path(f"/sys/fs/bpf/sonde-loss-{os.getpid()}")
    losses, without, load, path = {}, [], None, None
    with tempfile.TemporaryDirectory() as work:
        pins.mkdir()
        try:
            kinds = loaded(pathlib.Path(work), pins)
            subprocess.run(["fallocate", "-l", "1G", image], check=True)
            path = subprocess.check_output(["losetup", "--find", "--show", image], text=True).strip()
            device = pathlib.Path(path).name
            load = subprocess.Popen(
                ["fio", "--name=loss", f"--filename={path}", "--rw=randread", "--bs=4k", "--direct=1",
                 "--ioengine=libaio", "--iodepth=32", "--runtime=3600", "--time_based"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(2)
            before = rate(device, [])
            for _ in range(ROUNDS):
                for name in random.sample(sorted(kinds), len(kinds)):
                    found, after = rate(device, kinds[name]), rate(device, [])
                    losses.setdefault(name, []).append(100 * (1 - found / ((before + after) / 2)))
                    without.append(after)
                    before = after
        finally:
            if load:
                load.terminate()
                load.wait()
            shutil.rmtree(pins, ignore_errors=True)
            if path:
                subprocess.run(["losetup", "--detach", path], check=False)
            image.unlink(missing_ok=True)
    print(f"# {statistics.median(without):.0f} reads a second without programs")
    print("programs\tmedian\tfirst quartile\tthird quartile")
    for name, lost in sorted(losses.items(), key=lambda item: statistics.median(item[1])):
        first, middle, third = statistics.quantiles(lost)
        print(f"{name}\t{middle:.2f}\t{first:.2f}\t{third:.2f}")


if __name__ == "__main__":
    main()
