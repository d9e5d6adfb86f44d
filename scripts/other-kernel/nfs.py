"""An NFS server and its client on one kernel, recorded and compared with the kernel's counters.

    nfs.py record SONDE FOLDER [VERSION...]    in the machine of scripts/other-kernel.sh
    nfs.py compare SONDE FOLDER    outside, where answers are quick

Every operation and byte of /proc/net/rpc/nfsd has to be in the breakdown by client and file, in the
histogram and in the events; and of the client every operation of /proc/self/mountstats, with its times.
Reads and writes are also as many as dd made. Status 1 otherwise.
"""

import json
import os
import subprocess
import sys

TODO, SONDE, FOLDER = sys.argv[1:4]
SIZE, COUNT = 32768, 40
DELAY = 0.04


def sh(text):
    print("+", text, flush=True)
    done = subprocess.run(text, shell=True, text=True, capture_output=True)
    if done.returncode:
        raise OSError(f"{text}: {done.stdout} {done.stderr}")
    return done.stdout


def counted():
    """Operations of each version, and bytes read and written."""
    answer = {}
    for line in open("/proc/net/rpc/nfsd"):
        key, *words = line.split()
        if key in ("proc3", "proc4ops"):
            answer[key] = [int(n) for n in words[1:]]
        elif key == "io":
            answer[key] = [int(n) for n in words[:2]]
    return answer


def serve():
    sh("modprobe nfsd; modprobe nfs; modprobe loop; modprobe dm_delay; modprobe ext4")
    sh("truncate -s 96M /dev/shm/exported; losetup /dev/loop0 /dev/shm/exported")
    sh("mkfs.ext4 -q -O ^has_journal /dev/loop0")
    table = f"0 196608 delay /dev/loop0 0 {int(DELAY * 1000)}"
    sh(f"dmsetup create slow --noudevsync --table '{table}'; dmsetup mknodes || true")
    slow = sh("dmsetup info -c --noheadings -o minor slow").strip()
    if not os.path.exists(f"/dev/dm-{slow}"):
        sh(f"mknod /dev/dm-{slow} b $(dmsetup info -c --noheadings -o major slow | tr -d ' ') {slow}")
    # Above them something that can be exported, for version 4: what is below is an overlay.
    sh("mount -t tmpfs srv /srv; mkdir -p /srv/slow /srv/fast")
    sh(f"mount /dev/dm-{slow} /srv/slow")
    sh("mount -t tmpfs fast /srv/fast; mkdir /srv/fast/deep; mount -t nfsd nfsd /proc/fs/nfsd")
    options = "rw,no_root_squash,no_subtree_check,insecure"
    with open("/etc/exports", "w") as exports:
        exports.write(f"/srv 127.0.0.1({options},fsid=0)\n")
        exports.write(f"/srv/fast 127.0.0.1({options},fsid=1)\n/srv/slow 127.0.0.1({options},fsid=2)\n")
    sh("mkdir -p /run/rpcbind /var/lib/nfs/v4recovery /var/lib/nfs/sm; touch /var/lib/nfs/etab /var/lib/nfs/rmtab")
    # What stays in the background keeps its output open.
    sh("(rpcbind; exportfs -r; rpc.mountd) >/dev/null 2>&1 </dev/null; rpc.nfsd 4")


def mount(version, what, at):
    if version != "3":
        what = what.removeprefix("/srv")
    sh(f"mkdir -p {at}; mount -t nfs -o vers={version},proto=tcp,nolock,rsize={SIZE},wsize={SIZE} localhost:{what} {at}")


def mounted(at):
    """Of a mount: by operation its count, ms before it was sent, on its way and in all; and the bytes
    that the server read and wrote."""
    operations, moved, here = {}, [], False
    for line in open("/proc/self/mountstats"):
        words = line.split()
        if line.startswith("device "):
            here = f" on {at} " in line
        elif here and words and words[0] == "bytes:":
            moved = [int(n) for n in words[5:7]]
        elif here and len(words) > 8 and words[0][:-1].isupper() and words[0].endswith(":"):
            operations[words[0][:-1]] = [int(words[n]) for n in (1, 6, 7, 8)]
    return operations, moved


def record(name, at, script):
    before, mounted_before = counted(), mounted(at)
    sh(f"rm -rf {FOLDER}/{name}")
    sh(f"{SONDE} record -o {FOLDER}/{name} --events all --event-budget 10000% -- sh -c '{script}; sleep 0.3'")
    after = counted()
    grew = {k: [a - b for a, b in zip(after[k], before[k])] for k in after}
    (ops, moved), (ops_before, moved_before) = mounted(at), mounted_before
    client = {op: [a - b for a, b in zip(n, ops_before.get(op, [0] * 4))] for op, n in ops.items()}
    client = {op: n for op, n in client.items() if n[0]}
    moved = [a - b for a, b in zip(moved, moved_before)]
    return {"name": name, "at": at, "counted": grew, "client": client, "moved": moved}


def work(at):
    quiet = "2>/dev/null"
    return (f"dd if=/dev/zero of={at}/deep/a bs={SIZE} count={COUNT} oflag=direct {quiet}; "
            f"dd if={at}/deep/a of=/dev/null bs={SIZE} count={COUNT} iflag=direct {quiet}; "
            f"dd if=/dev/zero of={at}/b bs=4096 count=7 conv=fsync {quiet}; "
            f"dd if=/dev/zero of={at}/e bs=65536 count=20 conv=fsync {quiet}; rm {at}/e; "
            f"mkdir {at}/c; ls -l {at} >/dev/null; cat {at}/missing {quiet}; mv {at}/b {at}/c/d; rm {at}/c/d; rmdir {at}/c")


def record_all():
    serve()
    runs = []
    for version in sys.argv[4:] or ("3", "4.2"):
        at = f"/mnt/{version}"
        mount(version, "/srv/fast", at)
        runs.append(record(f"nfs-{version}", at, work(at)))
        slow = f"{at}-slow"
        mount(version, "/srv/slow", slow)
        sh(f"dd if=/dev/zero of={slow}/s bs={SIZE} count=4 conv=fsync; sync; echo 3 >/proc/sys/vm/drop_caches")
        read = f"dd if={slow}/s of=/dev/null bs=4096 count=1 skip=16 iflag=direct"
        runs.append(record(f"nfs-{version}-slow", slow, read))
        sh(f"umount {slow}")
    json.dump(runs, open(f"{FOLDER}/nfs.json", "w"))
    return 0


def get(run, expression):
    done = subprocess.run([SONDE, "get", f"{FOLDER}/{run}", expression, "--json"], text=True, capture_output=True)
    if done.returncode:
        print("  ", expression, done.stderr)
        return []
    return json.loads(done.stdout)["groups"]


def names():
    """Of operations, from the parser of the kernel's counters."""
    answer = {}
    text = open(f"{os.path.dirname(__file__)}/../../crates/sources/src/proc/nfsd/ops.rs").read()
    for key, version, const in (("proc3", 3, "V3"), ("proc4ops", 4, "V4")):
        listed = text.split(f"pub const {const}: ")[1].split("= [")[1].split("];")[0]
        answer[key] = [f"v{version} {w.strip()[1:-1]}" for w in listed.split(",") if w.strip()]
    return answer


def compare(told):
    wrong, run = 0, told["name"]
    print(run)

    def same(what, found, should):
        nonlocal wrong
        if found != should:
            wrong += 1
            print(f"  WRONG {what}: {found}, not {should}")

    should = {}
    for key, known in names().items():
        for name, amount in zip(known, told["counted"][key]):
            if amount:
                should[name] = amount
    print("  ", should, told["counted"]["io"])
    for how in ("", ", client", ", latency", ", file, latency"):
        found = {}
        for group in get(run, f"nfsd.ops by op{how}"):
            op = group["key"]["op"]
            found[op] = found.get(op, 0) + group["total"]
        for op in sorted(set(found) | set(should)):
            same(f"nfsd.ops by op{how} of {op}", found.get(op, 0), should.get(op, 0))
    for how in ("client", "latency", "file, latency"):
        for op, amount in zip(("READ", "WRITE"), told["counted"]["io"]):
            groups = get(run, f"nfsd.bytes by op, {how}")
            found = sum(g["total"] for g in groups if f" {op}" in g["key"]["op"])
            same(f"nfsd.bytes by op, {how} of {op}", found, amount)
    clients = {g["key"]["client"] for g in get(run, "nfsd.ops by client")}
    same("clients", clients, {"127.0.0.1"})
    version = "v3" if "nfs-3" in run else "v4"
    # Clients of newer kernels ask for what lies between holes.
    read = "READ_PLUS" if f"{version} READ_PLUS" in should else "READ"
    if run.endswith("slow"):
        for group in get(run, f"nfsd.time by op, client where op = '{version} {read}'"):
            print(f"   READ took {group['total']} s, the device {DELAY}")
            same("slow READ", DELAY <= group["total"] < DELAY + 0.2, True)
    else:
        for op in (read, "WRITE"):
            for file, amount in (("/srv/fast/deep/a", COUNT),):
                groups = get(run, f"nfsd.ops by file where op = '{version} {op}' and file = {file}")
                same(f"{op} of {file}", sum(g["total"] for g in groups), amount)
            same(f"{op} of mountstats", should.get(f"{version} {op}"), told["client"][op][0])
    for group in get(run, "nfsd.ops by op, file"):
        print("   ", group["key"], group["total"])
    return wrong + compare_client(told, read)


# What a client does for its lease is of no mount, and of all: it is not compared.
OF_NO_MOUNT = {"NULL", "SEQUENCE", "RENEW", "EXCHANGE_ID", "CREATE_SESSION", "RECLAIM_COMPLETE"}


def compare_client(told, read):
    wrong, run = 0, told["name"]
    client = {op: n for op, n in told["client"].items() if op not in OF_NO_MOUNT}

    def same(what, found, should):
        nonlocal wrong
        if found != should:
            wrong += 1
            print(f"  WRONG {what}: {found}, not {should}")

    def by_op(measure, how):
        found = {}
        for group in get(run, f"nfs.{measure} by op{how}"):
            op = group["key"]["op"]
            if group["total"] and op not in OF_NO_MOUNT:
                found[op] = found.get(op, 0) + group["total"]
        return found

    print("   client:", told["client"], told["moved"])
    for how in ("", ", mount", ", server", ", latency", ", server, file", ", file, latency"):
        found = by_op("ops", how)
        same(f"nfs.ops by op{how}", found, {op: n[0] for op, n in client.items()})
    # mountstats tells whole milliseconds of a sum, and so twice.
    for measure, at, how in (("time", 3, ", server"), ("time", 3, ", latency"), ("round_trip_time", 2, ", file"),
                             ("queue_time", 1, ", file")):
        found = by_op(measure, how)
        for op, n in client.items():
            near = -0.0011 <= found.get(op, 0) - n[at] / 1e3 <= 0.0011
            same(f"nfs.{measure} by op{how} of {op}: {found.get(op, 0)}, {n[at]} ms", near, True)
    for how in (", server", ", latency", ", file, latency"):
        found = by_op("bytes", how)
        for op, amount in ((read, told["moved"][0]), ("WRITE", told["moved"][1])):
            same(f"nfs.bytes by op{how} of {op}", found.get(op, 0), amount)
    servers = {g["key"]["server"] for g in get(run, "nfs.ops by server where op = GETATTR")}
    same("servers", servers, {"localhost"} if "GETATTR" in client else servers)
    if run.endswith("slow"):
        for group in get(run, f"nfs.mean_latency by op where op = {read} and latency > 39ms"):
            print("   its client:", group)
    else:
        for op in (read, "WRITE"):
            groups = get(run, f"nfs.ops by file where op = {op} and file = {told['at']}/deep/a")
            same(f"{op} of a file", sum(g["total"] for g in groups), COUNT)
        groups = get(run, f"nfs.ops by file where op = COMMIT and file = {told['at']}/e")
        same("COMMIT of a file", sum(g["total"] for g in groups), client.get("COMMIT", [0])[0])
        same("COMMIT is among them", "COMMIT" in client, True)
    for group in get(run, "nfs.ops by op, server, file"):
        print("    client:", group["key"], group["total"])
    return wrong


if TODO == "record":
    sys.exit(record_all())
sys.exit(sum(compare(told) for told in json.load(open(f"{FOLDER}/nfs.json"))) > 0)
