"""Joins two interfaces of its network namespace: hands each frame on to the other after so many
seconds. Frames keep what the kernel left for the hardware to do (PACKET_VNET_HDR).

    slow_link.py LEFT RIGHT SECONDS
"""

import collections
import select
import socket
import sys
import time

ALL_PROTOCOLS = 3
SOL_PACKET, PACKET_VNET_HDR = 263, 15
PACKET_OUTGOING = 4


def end(interface):
    it = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    it.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    it.bind((interface, ALL_PROTOCOLS))
    return it


left, right = end(sys.argv[1]), end(sys.argv[2])
seconds = float(sys.argv[3])
other = {left: right, right: left}
under_way = collections.deque()
print("ready", flush=True)
while True:
    wait = max(0, under_way[0][0] - time.monotonic()) if under_way else None
    for there in select.select([left, right], [], [], wait)[0]:
        frame, (_, _, kind, *_) = there.recvfrom(1 << 17)
        # What it sends itself comes back as outgoing.
        if kind != PACKET_OUTGOING:
            under_way.append((time.monotonic() + seconds, other[there], frame))
    while under_way and under_way[0][0] <= time.monotonic():
        _, to, frame = under_way.popleft()
        to.send(frame)
