"""A memory cgroup that has next to nothing: whoever is moved into it and touches another page is ended by the kernel's OOM killer,
as on a machine without memory."""
import os
from pathlib import Path

V1, V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


class PoorGroup:
    """None can be made: path is None, and why says so."""

    def __init__(self):
        self.path, self.why = None, "no memory cgroup"
        v2 = (V2 / "cgroup.controllers").is_file()
        path = (V2 if v2 else V1) / f"stab-poor-{os.getpid()}"
        self.limit, self.kills_in = ("memory.max", "memory.events") if v2 else ("memory.limit_in_bytes", "memory.oom_control")
        try:
            path.mkdir()
        except OSError as error:
            self.why = f"'{path}' can't be made: {error.strerror}"
            return
        self.path = path
        try:
            (path / self.limit).write_text("4096")
            if not v2:
                (path / "memory.swappiness").write_text("0")
        except OSError as error:
            self.why = f"'{path / self.limit}' can't be set: {error.strerror}"
            self.remove()

    def take(self, pid):
        """False: it is gone already."""
        try:
            (self.path / "cgroup.procs").write_text(str(pid))
        except OSError:
            return False
        return True

    def kills(self):
        """By the OOM killer, in this group."""
        for line in (self.path / self.kills_in).read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
        return 0

    def remove(self):
        try:
            self.path.rmdir()
        except OSError:
            pass
        self.path = None
