"""Orders of functions for the linker, from a profile: what a layout optimization does.

hot        the functions that the profile saw, busiest first, close together
scattered  the same ones as far apart as the others allow: the opposite, for a contrast that must show
"""
import re
import subprocess

from debian_source import Failure

ORDERS = ("hot", "scattered")
# The busiest functions that make up so much of all counts are the hot ones.
HOT_SHARE = 0.999


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


def ordered(order, profile, binary):
    """All functions of the binary as the order has them."""
    if order not in ORDERS:
        raise Failure(f"no order '{order}' of functions; there are: {', '.join(ORDERS)}")
    lines = subprocess.run(["llvm-nm-19", "-n", "--defined-only", binary], capture_output=True, text=True, check=True,
                           timeout=60).stdout.splitlines()
    functions = list(dict.fromkeys(line.split()[2] for line in lines if line.split()[1] in "tT"))
    busy = counts(profile)
    known = sorted((name for name in functions if name in busy), key=lambda name: -busy[name])
    if not known:
        raise Failure(f"the profile {profile} names no function of {binary}")
    left, hot = HOT_SHARE * sum(busy[name] for name in known), []
    for name in known:
        if left <= 0:
            break
        hot.append(name)
        left -= busy[name]
    cold = [name for name in functions if name not in set(hot)]
    if order == "hot":
        return hot + cold
    step, mixed = len(cold) / len(hot), []
    for i, name in enumerate(hot):
        mixed += [name, *cold[round(i * step):round((i + 1) * step)]]
    return mixed
