"""Kinds of disks that only other kernels have, recorded and compared with /proc/diskstats.

    disks.py record SONDE FOLDER [NAME...]    in the machine of scripts/other-kernel.sh
    disks.py compare SONDE FOLDER             outside, where answers are quick

The samples, each histogram and the events have to have every I/O and every byte that the kernel
counted. Status 1 where one has not.
"""

import json
import os
import subprocess
import sys
import time

TODO, SONDE, FOLDER = sys.argv[1:4]
# Fields of /proc/diskstats, from the first number on: I/Os, merged, sectors, ms of each kind.
KINDS = {"read": 0, "write": 4, "discard": 11, "flush": 15}


def sh(text, **more):
    return subprocess.run(text, shell=True, check=True, text=True, capture_output=True, **more).stdout


def counted(name):
    line = next(l.split()[3:] for l in open("/proc/diskstats") if l.split()[2] == name)
    line = [int(n) for n in line]
    answer = {}
    for kind, at in KINDS.items():
        answer[kind] = (line[at], 0 if kind == "flush" else line[at + 2] * 512)
    return answer


def loop(size="64M"):
    sh("modprobe loop")
    at = f"/dev/shm/disk{time.monotonic_ns()}"
    sh(f"truncate -s {size} {at}")
    return sh(f"losetup -f --show {at}").strip()


def null_blk(mode):
    def make():
        at = f"/sys/kernel/config/nullb/n{mode}"
        sh("modprobe null_blk nr_devices=0; mount -t configfs c /sys/kernel/config 2>/dev/null || true")
        sh(f"mkdir {at}; cd {at}; echo {mode} >queue_mode; echo 64 >size; echo 1 >memory_backed; "
           "echo 1 >discard; echo 1 >power")
        return f"/dev/n{mode}", []
    return make


def scsi(delay):
    def make():
        before = set(os.listdir("/sys/block"))
        sh(f"modprobe sd_mod; modprobe scsi_debug dev_size_mb=64 delay={delay} lbpu=1 || true")
        for _ in range(100):
            new = [d for d in set(os.listdir("/sys/block")) - before if d.startswith("sd")]
            if new and os.path.exists("/dev/" + new[0]):
                return "/dev/" + new[0], []
            time.sleep(0.1)
        raise OSError("no scsi_debug device")
    return make


def linear():
    under = loop()
    sh("modprobe dm_mod")
    sh(f"dmsetup create line --table '0 131072 linear {under} 0'; dmsetup mknodes || true")
    return "/dev/dm-0", [under]


def crypt():
    under = loop()
    sh("modprobe dm_crypt")
    sh(f"dmsetup create safe --table '0 131072 crypt aes-xts-plain64 {'0' * 64} 0 {under} 0'; dmsetup mknodes || true")
    name = os.path.basename(os.path.realpath("/dev/mapper/safe"))
    if name == "safe":
        minor = sh("dmsetup info -c --noheadings -o minor safe").strip()
        name = f"dm-{minor}"
    return f"/dev/{name}", [under]


def raid1():
    under = [loop(), loop()]
    sh("modprobe raid1")
    sh(f"mdadm --create /dev/md7 --run --assume-clean --metadata=1.2 --level=1 --raid-devices=2 {' '.join(under)}")
    return "/dev/md7", under


def existing(module, name):
    def make():
        sh(f"modprobe {module}")
        for _ in range(100):
            if os.path.exists(f"/dev/{name}"):
                return f"/dev/{name}", []
            time.sleep(0.1)
        raise OSError(f"no {name}")
    return make


DISKS = {
    "loop": lambda: (loop(), []),
    "null_blk": null_blk(2),
    "null_blk of bios": null_blk(0),
    "scsi_debug": scsi(1),
    "virtio_blk": existing("virtio_blk", "vda"),
    "nvme": existing("nvme", "nvme0n1"),
    "dm-linear": linear,
    "dm-crypt": crypt,
    "md raid1": raid1,
}


def node(path):
    name = os.path.basename(path)
    if not os.path.exists(path):
        numbers = open(f"/sys/block/{name}/dev").read().strip().replace(":", " ")
        sh(f"mknod {path} b {numbers}")


def load(path):
    job = f"fio --filename={path} --direct=1 --thread --name=a --bs=4k --size=2m"
    yield f"{job} --rw=randrw --ioengine=libaio --iodepth=8 --bsrange=4k-32k"
    yield f"{job} --rw=write --ioengine=psync --fsync=16 --size=1m"
    yield f"dd if=/dev/zero of={path} bs=48k count=101 conv=fsync"
    yield f"dd if={path} of=/dev/null bs=20k count=199"
    discards = f"/sys/block/{os.path.basename(path)}/queue/discard_max_bytes"
    if int(open(discards).read()):
        yield f"blkdiscard --offset 8MiB --length 3MiB {path}"


def record(title, make):
    path, under = make()
    node(path)
    names = [os.path.basename(p) for p in [path] + under]
    run = f"run-{title.replace(' ', '-')}"
    sh(f"rm -rf {FOLDER}/{run}")
    # What a scan of a new disk still does.
    time.sleep(0.5)
    before = {n: counted(n) for n in names}
    script = " && ".join(load(path))
    done = subprocess.run(
        [SONDE, "record", "-o", f"{FOLDER}/{run}", "--events", "all", "--event-budget", "10000%",
         "--", "sh", "-c", f"({script}) >/dev/null 2>&1; s=$?; sleep 0.3; exit $s"],
        text=True, capture_output=True)
    if done.returncode:
        raise OSError(f"recording failed: {done.stdout} {done.stderr}")
    grew = {}
    for name in names:
        after = counted(name)
        grew[name] = {k: [a - b for a, b in zip(after[k], before[name][k])] for k in KINDS}
    return {"title": title, "run": run, "counted": grew}


def get(run, expression):
    done = subprocess.run([SONDE, "get", f"{FOLDER}/{run}", expression, "--json"], text=True, capture_output=True)
    if done.returncode:
        return None
    return json.loads(done.stdout)["groups"]


def compare(told):
    wrong = 0
    print(told["title"])
    for how in ("", ", latency", ", depth", ", sync"):
        for at, measure in enumerate(("ios", "bytes")):
            found = {}
            for name in told["counted"]:
                groups = get(told["run"], f"disk.{measure} by op{how} where device = {name}")
                for group in groups or []:
                    key = name, group["key"]["op"]
                    found[key] = found.get(key, 0) + (group["total"] or 0)
            for name, kinds in told["counted"].items():
                # Null_blk does not count what it gets as bios.
                if not any(n for amounts in kinds.values() for n in amounts):
                    if not how and not at:
                        print(f"  {name}: the kernel counts nothing")
                    continue
                for kind, amounts in kinds.items():
                    # What is discarded moves no bytes.
                    should = 0 if measure == "bytes" and kind in ("discard", "flush") else amounts[at]
                    # Flushes without data, which md hands on and does not count: those of fio.
                    if how and name.startswith("md") and (measure, kind) == ("ios", "write"):
                        should += 256 // 16
                    if not how and amounts[0]:
                        print(f"  {name} {kind}: {should} {measure}")
                    if found.get((name, kind), 0) != should:
                        wrong += 1
                        print(f"  WRONG disk.{measure} by op{how} of {name} {kind}: "
                              f"{found.get((name, kind), 0)}, not {should}")
    first = next(iter(told["counted"]))
    for op in ("read", "write"):
        groups = get(told["run"], f"disk.ios by command where device = {first} and op = {op}")
        asked = {g["key"]["command"]: g["total"] for g in groups or []}
        # What md gets to flush is a write of the worker that flushes.
        good = asked and "(unknown)" not in asked
        wrong += not good
        print(f"  {'' if good else 'WRONG '}{first} {op} by command: {asked}")
    for what in ("self.dropped", "self.unseen", "self.missed"):
        amount = sum(g["total"] or 0 for g in get(told["run"], what) or [])
        if amount:
            print(f"  {what}: {amount}")
    return wrong


def main():
    list_of_runs = f"{FOLDER}/disks.json"
    if TODO == "compare":
        return sum(compare(told) for told in json.load(open(list_of_runs)))
    runs, failed = [], 0
    for title, make in DISKS.items():
        if sys.argv[4:] and title not in sys.argv[4:]:
            continue
        try:
            print(title, flush=True)
            runs.append(record(title, make))
        except (subprocess.CalledProcessError, OSError, StopIteration) as error:
            failed += 1
            print(f"{title}: WRONG {error} {getattr(error, 'stderr', '')}")
    json.dump(runs, open(list_of_runs, "w"))
    return failed


sys.exit(main() > 0)
