"""The line from an office's network to the service: two TUN interfaces, and between them a delay, a rate and a switch.

A kernel has `tc netem` for that only where it was built with it.

usage: office-line.py NAMESPACE OUTER INNER OUTSIDE INSIDE TARGET DELAY_MS BYTES_PER_MS
It says "ready" once packets for TARGET go from NAMESPACE over it. SIGUSR1 cuts it, both ways and silently; SIGUSR2 mends it.
"""
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections import deque

# <linux/if_tun.h>
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
# What waits for the line beyond this is dropped, as a router does.
MOST_WAITING = 256

space, outer, inner, outside, inside, target = sys.argv[1:7]
delay, rate = float(sys.argv[7]) / 1000, float(sys.argv[8]) * 1000
is_cut = False


def switch(cut: bool) -> None:
    global is_cut
    is_cut = cut


def tun(name: str) -> int:
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return end


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


signal.signal(signal.SIGUSR1, lambda *_: switch(True))
signal.signal(signal.SIGUSR2, lambda *_: switch(False))
ends = [tun(outer), tun(inner)]
ip("link", "set", inner, "netns", space)
ip("address", "add", outside, "peer", inside, "dev", outer)
ip("link", "set", outer, "up")
ip("-n", space, "address", "add", inside, "peer", outside, "dev", inner)
ip("-n", space, "link", "set", inner, "up")
ip("-n", space, "route", "add", f"{target}/32", "dev", inner)
print("ready", flush=True)

# By the end that they came from: packets with the time at which they arrive; and when the last one has left.
waiting = [deque(), deque()]
left = [0.0, 0.0]
while True:
    soonest = min((queue[0][0] for queue in waiting if queue), default=None)
    timeout = None if soonest is None else max(0.0, soonest - time.monotonic())
    readable, _, _ = select.select(ends, [], [], timeout)
    now = time.monotonic()
    for came in (0, 1):
        if ends[came] in readable:
            packet = os.read(ends[came], 65536)
            if not is_cut and len(waiting[came]) < MOST_WAITING:
                left[came] = max(left[came], now) + len(packet) / rate
                waiting[came].append((left[came] + delay, packet))
        queue = waiting[came]
        while queue and queue[0][0] <= now:
            _, packet = queue.popleft()
            if not is_cut:
                os.write(ends[1 - came], packet)
