"""Orders of functions for the linker, from a profile: what a layout optimization does.

hot        the functions that the profile saw, busiest first, close together
scattered  the same ones as far apart as the others allow
colliding  the same ones a page or pages apart, so that all begin in the same sets of the instruction cache: the opposite,
           for a contrast that must show
"""
import bisect
import re
import subprocess

from debian_source import Failure

ORDERS = ("hot", "scattered", "colliding")
# The busiest functions that make up so much of all counts are the hot ones.
HOT_SHARE = 0.999
# Sets of a first-level instruction cache repeat at this distance.
PAGE_BYTES = 4096
# What our images put in front of each function, and align it to (runtime/code/image.h): orders are laid out for them.
PREFIX_BYTES, GRAIN_BYTES = 23, 16


def counts(profile):
    """{function: sum of its blocks' counts}, of what ran."""
    text = subprocess.run(["llvm-profdata-19", "show", "--all-functions", "--counts", profile], capture_output=True, text=True,
                          check=True, timeout=60).stdout
    found = {}
    # "  file.c;static_name:" or "  name:", and further down "    Block counts: [1, 2]"; the entry's count is apart.
    for name, rest in re.findall(r"^  (\S.*):\n((?:    .*\n)*)", text, re.M):
        numbers = re.findall(r"(?:Function count: |Block counts: \[)([\d, ]+)", rest)
        total = sum(int(n) for group in numbers for n in group.replace(",", " ").split())
        if total:
            found[re.split("[;:]", name)[-1]] = total
    return found


def sizes_of(binary):
    """{function: bytes}, by address."""
    lines = subprocess.run(["llvm-nm-19", "-n", "-S", "--defined-only", binary], capture_output=True, text=True, check=True,
                           timeout=60).stdout.splitlines()
    return {words[3]: int(words[1], 16) for words in map(str.split, lines) if len(words) == 4 and words[2] in "tT"}


def hottest(profile, binary):
    """Those that the profile saw, busiest first, as many as make up HOT_SHARE."""
    busy, functions = counts(profile), sizes_of(binary)
    known = sorted((name for name in functions if name in busy), key=lambda name: -busy[name])
    if not known:
        raise Failure(f"the profile {profile} names no function of {binary}")
    left, hot = HOT_SHARE * sum(busy[name] for name in known), []
    for name in known:
        if left <= 0:
            break
        hot.append(name)
        left -= busy[name]
    return hot


def ordered(order, profile, binary):
    """All functions of the binary as the order has them."""
    if order not in ORDERS:
        raise Failure(f"no order '{order}' of functions; there are: {', '.join(ORDERS)}")
    sizes = sizes_of(binary)
    functions = list(sizes)
    hot = hottest(profile, binary)
    cold = [name for name in functions if name not in set(hot)]
    if order == "hot":
        return hot + cold
    if order == "colliding":
        return colliding(hot, cold, sizes)
    step, mixed = len(cold) / len(hot), []
    for i, name in enumerate(hot):
        mixed += [name, *cold[round(i * step):round((i + 1) * step)]]
    return mixed


def colliding(hot, cold, sizes):
    """Each of `hot` behind as many of `cold` as it takes to the next page, the largest that fit, while there are any."""
    left = sorted(cold, key=lambda name: sizes[name])
    mixed, end = [], 0

    def start(at):
        return -(-(at + PREFIX_BYTES) // GRAIN_BYTES) * GRAIN_BYTES

    for name in hot:
        page = -(-start(end) // PAGE_BYTES) * PAGE_BYTES
        while left:
            fits = bisect.bisect_right(left, page - PREFIX_BYTES - start(end), key=lambda cold_name: sizes[cold_name])
            if fits == 0:
                break
            filler = left.pop(fits - 1)
            mixed.append(filler)
            end = start(end) + sizes[filler]
        mixed.append(name)
        end = start(end) + sizes[name]
    return mixed + left
