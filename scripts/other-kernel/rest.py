"""Processor time of groups, files, network and TCP on another kernel, compared with who did it.

    rest.py record SONDE FOLDER     in the machine of scripts/other-kernel.sh
    rest.py compare SONDE FOLDER    outside, where answers are quick
    rest.py work                    what is recorded
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time

GROUP = "/sys/fs/cgroup/burn"
OPENS, READS, DATAGRAMS, SENT = 300, 64, 200, 3_000_000
REAPED_AT = 4
PORT = 4711
PLACE = "/dev/shm/rest"


def sh(text):
    done = subprocess.run(text, shell=True, text=True, capture_output=True)
    if done.returncode:
        raise OSError(f"{text}: {done.stdout} {done.stderr}")
    return done.stdout


def work():
    burner = "echo $$ >{}/cgroup.procs; exec python3 -c 'import time\nend = time.time() + 1\nwhile time.time() < end: pass'"
    sh(burner.format(GROUP))
    for _ in range(OPENS):
        with open(f"{PLACE}/opened", "rb", buffering=0) as file:
            file.read(10)
    sh(f"fio --filename={PLACE}/ring --name=a --rw=read --bs=4k --size={READS * 4}k --ioengine=io_uring --iodepth=4")
    # Results that it takes from memory: functions of the kernel tell of them.
    sh(f"fio --filename={PLACE}/reaped --name=a --rw=read --bs=4k --size={READS * 4}k --ioengine=libaio "
       f"--iodepth={REAPED_AT} --iodepth_batch_complete_min=0 --userspace_reap")
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(DATAGRAMS):
        udp.sendto(bytes(1000), ("10.77.0.2", 9))
    server = socket.create_server(("127.0.0.1", PORT))

    def take():
        other, _ = server.accept()
        while other.recv(65536):
            pass
        other.close()

    thread = threading.Thread(target=take)
    thread.start()
    client = socket.create_connection(("127.0.0.1", PORT))
    client.sendall(bytes(SENT))
    client.close()
    thread.join()
    time.sleep(0.3)


def bytes_of(name):
    at = f"/sys/class/net/{name}/statistics"
    return {d: int(open(f"{at}/{k}_bytes").read()) for d, k in (("transmit", "tx"), ("receive", "rx"))}


def record():
    sonde, folder = sys.argv[2:4]
    sh("modprobe veth")
    sh(f"mkdir -p {PLACE} {GROUP}; head -c 100 /dev/zero >{PLACE}/opened; head -c {READS * 4096} /dev/zero | tee {PLACE}/reaped >{PLACE}/ring")
    # Nothing but what is sent: no search for routers, nobody asks for addresses.
    quiet = "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"
    sh(f"{quiet}; ip netns add far; ip netns exec far sh -c '{quiet}'")
    sh("ip link add near type veth peer name far netns far; ip addr add 10.77.0.1/24 dev near")
    sh("ip link set near up; ip -n far addr add 10.77.0.2/24 dev far; ip -n far link set far up; "
       "ip neigh add 10.77.0.2 dev near lladdr 02:00:00:00:00:02; ip -n far link set far address 02:00:00:00:00:02")
    time.sleep(2)
    before = bytes_of("near")
    sh(f"rm -rf {folder}/run-rest; {sonde} record -o {folder}/run-rest --with file --events all --event-budget 10000% "
       f"-- python3 {os.path.abspath(__file__)} work")
    after = bytes_of("near")
    usage = next(int(l.split()[1]) for l in open(f"{GROUP}/cpu.stat") if l.startswith("usage_usec"))
    told = {"usage": usage / 1e6, "near": {d: after[d] - before[d] for d in after}}
    json.dump(told, open(f"{folder}/rest.json", "w"))


def compare():
    sonde, folder = sys.argv[2:4]
    told, wrong = json.load(open(f"{folder}/rest.json")), 0

    def total(expression):
        done = subprocess.run([sonde, "get", f"{folder}/run-rest", expression, "--json"], text=True, capture_output=True)
        if done.returncode:
            print("  ", expression, done.stderr)
            return None
        return sum(g["total"] or 0 for g in json.loads(done.stdout)["groups"])

    def same(expression, should, within=0.0):
        nonlocal wrong
        found = total(expression)
        good = found is not None and abs(found - should) <= within
        wrong += not good
        print(f"  {'' if good else 'WRONG '}{expression}: {found}, by the instrument {should}")

    # 2 µs for rounding, as in truth_cgroup.
    same("cpu.time by cgroup where cgroup = /burn", told["usage"], 2e-6)
    same("cgroup.time where cgroup = /burn", told["usage"], 2e-6)
    # With a latency it is asked of the events.
    for how in ("file", "file, latency"):
        same(f"file.ops by {how} where op = open and file = {PLACE}/opened", OPENS)
        same(f"file.bytes by {how} where op = read and file = {PLACE}/opened", OPENS * 10)
        same(f"file.ops by {how} where op = read and file = {PLACE}/ring", READS)
        same(f"file.bytes by {how} where op = read and file = {PLACE}/ring", READS * 4096)
        # But for the last of each place.
        half = REAPED_AT / 2
        same(f"file.ops by {how} where op = read and file = {PLACE}/reaped", READS - half, half)
    for direction, amount in told["near"].items():
        for how in ("", ", size", ", context"):
            # Events and histograms have what passes the driver; one stage of the two.
            same(f"net.bytes by interface{how} where interface = near and direction = {direction}", amount)
    for direction in ("transmit", "receive"):
        same(f"tcp.bytes by remote where remote = 127.0.0.1 and direction = {direction}", SENT)
    same(f"tcp.connects by connect_time where remote_port = {PORT}", 1)
    for what in ("self.dropped", "self.unseen", "self.missed"):
        amount = total(what)
        if amount:
            print(f"  {what}: {amount}")
    return wrong


if sys.argv[1] == "work":
    work()
elif sys.argv[1] == "record":
    record()
else:
    sys.exit(compare() > 0)
