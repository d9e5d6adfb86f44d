#!/usr/bin/env bash
# What the scheduler's programs cost at some 10,000 context switches a second.
#
#   bench/sched.sh [SECONDS]     default 20
#
# Two processes on one processor hand a byte to and fro over two pipes, in bursts with a pause
# in between so that the rate is about 10,000 switches a second. The recorder has the kernel
# measure the programs in one sample of thirty; the cost of each run has in it what measuring
# costs, some 50 ns. From `programs` of run.json: hits, seconds, measured seconds.
#
# Needs root, python3, taskset.

. "$(dirname "$0")/lib.sh"

seconds=${1:-20}
need python3 taskset "$sonde"
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-sched.XXXXXX")
player=

finish() {
    if [ -n "$player" ]; then kill "$player" 2>/dev/null || true; fi
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

cat > "$work/ping.py" <<'PING'
import os, sys, time

rate, seconds = 10_000, float(sys.argv[1])
there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(there[1])
    while os.read(there[0], 1):
        os.write(back[1], b"x")
    os._exit(0)
# Two switches a round; bursts of 5 ms.
start = time.monotonic()
rounds = 0
while (now := time.monotonic() - start) < seconds:
    while rounds < now * rate / 2:
        os.write(there[1], b"x")
        os.read(back[0], 1)
        rounds += 1
    time.sleep(0.005)
os.close(there[1])
PING

taskset -c 0 python3 "$work/ping.py" "$((seconds + 2))" &
player=$!
sleep 1
"$sonde" record -q --sources bpf-cpu,cpu --detail distributions --every 100ms \
    --for "${seconds}s" -o "$work/run"
"$sonde" get "$work/run" system.context_switches --json > "$work/rates"
cp "$work/run/run.json" "$out/sched-run.json"

python3 - "$work" > "$work/results" <<'READ'
import json, sys

run = json.load(open(sys.argv[1] + "/run/run.json"))
rate = json.load(open(sys.argv[1] + "/rates"))["groups"][0]["mean"]
print("sched.switches\ta second\t%.0f\t-" % rate)
share, switches = 0.0, 0.0
for p in run["programs"]:
    if p["hits"] and p["measured_seconds"]:
        print("sched.%s\tns a hit\t%.0f\t-" % (p["name"], p["time_seconds"] / p["hits"] * 1e9))
        share += p["time_seconds"] / p["measured_seconds"]
    if p["name"] == "cpu_switch":
        switches = p["hits"] / p["measured_seconds"]
print("sched.measured\tswitches a second while measured\t%.0f\t-" % switches)
print("sched.share\t%% of a core at 10,000 switches a second\t%.3f\t<= 0.5" % (share * 1e6 / switches))
source = next(s for s in run["sources"] if s["name"] == "bpf-cpu")
print("sched.sample\tms a sample\t%.3f\t-" % (source["cost_seconds"] / source["samples"] * 1e3))
READ
while IFS=$'\t' read -r name unit value target; do
    result "$name" "$unit" "$value" "$target"
done < "$work/results"
