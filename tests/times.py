"""What a test says of times that this machine takes, and of verdicts that its noise may hide.

A machine that others use says nothing about the program by being slow. So a run of all tests only tells a miss (a line
`MISSED: ...`, which tests/summary lists; one that is none is a line `HELD: ...`) and goes on with what does not depend on times. A
test that misses all of several fails the run all the same: noise seldom does that. `./check --timing` asks for a verdict
(STAB_TIMES=judge), on a machine that has nothing else to do: there a miss is a failure, and each test has three tries.
"""
import os

JUDGED = os.environ.get("STAB_TIMES") == "judge"
MOST_OF_HELD = 100  # characters


def in_time(holds, what):
    """Whether a test may go on as if `what` held; False only where times are judged."""
    if not JUDGED:
        print(f"HELD: {what[:MOST_OF_HELD]}" if holds else f"MISSED: {what}", flush=True)
    return holds or not JUDGED


def in_time_or(expect):
    """A test's own expect(holds, what), or check(what, holds, saw), for what noise may hide: that is asked where it holds or is judged."""
    def expect_in_time(*arguments):
        what, holds, *saw = arguments if isinstance(arguments[0], str) else (arguments[1], arguments[0])
        if holds or JUDGED:
            expect(*arguments)
        in_time(holds, what + "".join(f": {one}" for one in ([] if holds else saw)))
    return expect_in_time
