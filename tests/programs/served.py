"""A program as the engine runs it, next to a launched helper, and what that says of where the program's time went."""
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "tests"), str(REPOSITORY / "plans/benchmarks")]
import harness  # noqa: E402
from harness import fail  # noqa: E402
from launcher_settings import launcher_settings  # noqa: E402
from running import environment  # noqa: E402


def served(tools, directory, command, code, *options, **more):
    """What the helper reports, and what follows its report."""
    return launched(tools, directory, command, code, *options, **more)[1:]


def launched(tools, directory, command, code, *options, epoch_ns=2_000_000, script=None, **settings):
    """What the program printed, what the helper reports, and what follows its report. `options` are the helper's, `script` its layout
    script, `settings` the program's environment."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read, write = os.pipe()
    words = [tools.parent / "libexec/stab/stab-helper", "--socket", theirs.fileno(), "--report", write, *options]
    if os.geteuid() == 0:
        words += ["--user", 0, "--group", 0]
    with open(script or os.devnull, "rb") as text:
        if script:
            words += ["--script", text.fileno()]
        helper = subprocess.Popen([str(word) for word in words], pass_fds=[theirs.fileno(), write, text.fileno()])
    theirs.close()
    os.close(write)
    done = harness.run(*command, cwd=directory, pass_fds=[ours.fileno()], timeout=120,
                       env=environment(**settings) | {"STAB": launcher_settings(code, 7, epoch_ns, socket=ours.fileno())})
    ours.close()
    text = b""
    while part := os.read(read, 1 << 20):
        text += part
    os.close(read)
    helper.wait(timeout=60)
    line, _, rest = text.partition(b"\n")
    return done.stdout, json.loads(line), rest


SAMPLES = struct.Struct("<8s6I8Q")
KEYS = ["magic", "record_bytes", "count", "stayed_bytes", "stayed_count", "function_count", "looks", "text_hash", "period_ns", "newest",
        "older", "original", "elsewhere", "kernel", "lost"]
LIBRARY = struct.Struct("<8s4I5Q256s1024s")
FUNCTION = struct.Struct("<Q6I")


def read_libraries(rest):
    """By file name: what is said of the file, and its functions by name, each with its counts. An end comes last."""
    found, ended = {}, False
    while rest:
        magic, record_bytes, count, name_bytes, flags, text_hash, newest, older, original, drawn_by, name, path = LIBRARY.unpack_from(rest)
        if magic != b"STABLIB2" or record_bytes != FUNCTION.size:
            fail(f"{magic} with rows of {record_bytes} bytes where a file's samples were expected")
        if ended:
            fail("more behind the end of the files")
        ended = name[0] == 0
        if ended:
            rest = rest[LIBRARY.size:]
            continue
        at, names = LIBRARY.size, LIBRARY.size + count * FUNCTION.size
        functions = {}
        for linked, size, *counts, name_at, _ in (FUNCTION.unpack_from(rest, at + i * FUNCTION.size) for i in range(count)):
            text = rest[names + name_at:names + name_bytes].split(b"\0")[0].decode()
            functions[text or hex(linked)] = {"linked": linked, "bytes": size, "counts": tuple(counts)}
        file, moved = name.split(b"\0")[0].decode(), flags == 1
        # One that was sampled before it moved stands twice.
        if file in found:
            if found[file]["moved"] == moved:
                fail(f"{file} twice")
            file += " (moves)" if moved else " (stays)"
        if moved != (drawn_by != 0) or moved != (path[:1] == b"/"):
            fail(f"{file}: moved {moved}, drawn by {drawn_by:#x}, {path!r}")
        found[file] = {"moved": moved, "text_hash": text_hash, "path": path.split(b"\0")[0].decode(), "drawn_by": drawn_by, "counts": (newest, older, original), "functions": functions}
        rest = rest[names + name_bytes:]
    if not ended:
        fail(f"samples of files are cut off behind {list(found)}")
    return found


def read_samples(rest, names):
    """Sums, samples by function of the executable, which functions stayed, and the other files (read_libraries)."""
    totals = dict(zip(KEYS, SAMPLES.unpack_from(rest)))
    if totals["magic"] != b"STABSMP1":
        fail(f"{len(rest)} bytes of samples: {totals}")
    at, stays_at = SAMPLES.size, SAMPLES.size + 16 * totals["count"]
    end = stays_at + 16 * totals["stayed_count"]
    functions = {names[f]: (newest, older, original) for f, newest, older, original in struct.iter_unpack("<4I", rest[at:stays_at])}
    stayed = [(names[f], image, first, last) for f, image, first, last in struct.iter_unpack("<4I", rest[stays_at:end])]
    return totals, functions, stayed, read_libraries(rest[end:]) if totals["period_ns"] != 0 or len(rest) > end else {}
