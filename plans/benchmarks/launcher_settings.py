"""The value of STAB= as our launcher writes it: settings of constant length (docs/reference/abi.md)."""

ABI_VERSION = 4          # abi::kAbiVersion
STACK_RANGE_BYTES = 4096


def launcher_settings(code, seed, epoch_ns, helper_cpu=None, socket=None, report=None):
    """`code` is the letter of its mode, stack and heap are off. A CPU or descriptor that is None is left out."""
    places = ",".join("----" if place is None else f"{place:04}" for place in (helper_cpu, socket, report))
    return f"{ABI_VERSION:02},{code}--,{seed:016x},{epoch_ns:013},{places},{STACK_RANGE_BYTES:04}"
