"""What a test says of times that this machine takes, and of verdicts that its noise may hide.

A machine that others use says nothing about the program by being slow. So a run of all tests only tells a miss (a line
`MISSED: ...`, which tests/summary lists) and goes on with what does not depend on times. `./check --timing` asks for a verdict
(STAB_TIMES=judge), on a machine that has nothing else to do: there a miss is a failure, and each test has three tries.
"""
import os
import sys

JUDGED = os.environ.get("STAB_TIMES") == "judge"


def in_time(holds, what):
    """Whether a test may go on as if `what` held; False only where times are judged."""
    if holds:
        return True
    print(f"{'FAIL' if JUDGED else 'MISSED'}: {what}", flush=True)
    return not JUDGED


def expect_in_time(holds, what):
    """Ends the test where times are judged and `what` does not hold."""
    if not in_time(holds, what):
        sys.exit(1)
