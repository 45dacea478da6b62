"""What is true of a case of make_cases.py on this machine, and which answers of `stabctl explain` are wrong about it.

A case knows how often each of its two programs runs each of its parts (`old`, `new`) and which parts lie at their slow place in
which (`slow`). What a part costs at which place is measured where the case runs, before and after it: `reaction`, seconds an
iteration. The loop's place costs twice as much while a neighbour uses the same core, so it must be measured then. Both together
are the truth:

  code    what the new program's work takes more than the old one's, all parts at the old one's places
  place   what the new one takes at its own places more than at the old one's

A cause is there by construction where iterations or places differ; its size is the reaction's."""
import os
import statistics
import subprocess

MARGIN = 0.01
# Code of half the margin must be named. A planted 0.5 % may be measured as a little less, and must be named, too.
NAMED_CODE = 0.45 * MARGIN
# Programs that run one part, and nothing else that takes time. make_cases.py builds them.
PARTS = ["chain", "loop", "loop-slow", "lines", "lines-slow", "called", "inlined", "virtual"]


def cpu_seconds(words):
    """User time of a program that began with its addresses as linked."""
    child = subprocess.Popen(["setarch", "-R", *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise OSError(f"{words[0]} ended with status {child.returncode}")
    return used.ru_utime


def measure(folder, iterations, parts, rounds):
    """By part the seconds of an iteration, in each of the rounds."""
    seconds = {part: [] for part in parts}
    for _ in range(rounds):
        for part in parts:
            seconds[part].append(cpu_seconds([f"{folder}/{part}", "1"]) / iterations[part])
    return seconds


def medians(seconds):
    return {part: statistics.median(values) for part, values in seconds.items()}


def parts_of(case):
    """What the case's truth depends on."""
    work = {*case["old"], *case["new"]}
    return sorted(work | {part + "-slow" for part in work if part + "-slow" in PARTS})


def time_of(work, slow, reaction):
    return sum(count * reaction[part + "-slow" if part in slow else part] for part, count in work.items())


def truth(case, reaction):
    """(code, place), each as a share of the old program's time, or of the new one's at the old one's places."""
    there = time_of(case["new"], case["slow"]["old"], reaction)
    code = there / time_of(case["old"], case["slow"]["old"], reaction) - 1 if case["new"] != case["old"] else 0.0
    place = time_of(case["new"], case["slow"]["new"], reaction) / there - 1 if case["slow"]["new"] != case["slow"]["old"] else 0.0
    return code, place


def is_wrong(code, place, answer):
    """A cause that is not there, a place of the margin or more that is not named, or a change of code that is not. `unresolved`
    and no answer are not wrong."""
    lacks_code, lacks_place = abs(code) >= NAMED_CODE, abs(place) >= MARGIN
    return {"code": code == 0 or lacks_place, "place": place == 0 or lacks_code, "both": code == 0 or place == 0,
            "nothing": lacks_code or lacks_place}.get(answer, False)


def is_excused(code, answer):
    """The worst answer: a real change that is called place."""
    return abs(code) >= NAMED_CODE and answer == "place"


def named_functions(answer):
    """Of which functions the place is, as the answer says: those found by themselves, and those of pairs."""
    found = answer.get("functions", {})
    names = {one["name"] for one in found.get("each", []) if one["found"]}
    return sorted(names.union(*({pair["first"], pair["second"]} for pair in found.get("pairs", []))))
