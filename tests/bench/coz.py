"""COZ, Debian's package coz-profiler, for the benchmarks that hold it beside ours: where it is, and what a run of it says.

It is taken from the machine where it is installed (packaging/scripts/install --compare); else `unpacked` fetches the package and its two libraries as
apt-get knows them, without root, and unpacks them below the build tree.
"""
import os
import pathlib
import re
import shutil
import subprocess

PACKAGES = ("coz-profiler", "libdwarf++0", "libelf++0")
# Its reader of debug information knows DWARF 4 without GNU's extension.
DEBUG = ["-gdwarf-4", "-gno-variable-location-views"]


class NoCoz(Exception):
    """It can't be had; the message says why and what to do."""


class Coz:
    def __init__(self, command, include=None, libraries=None):
        self.command, self.include, self.libraries = command, include, libraries

    def environment(self):
        return {**os.environ, **({"LD_LIBRARY_PATH": str(self.libraries)} if self.libraries else {})}

    def rate(self, cpus, command, line, speedup, folder, timeout):
        """Visits a second of effective time while the line is faster by speedup, a percentage; None where it made no experiment."""
        profile = folder / "profile.coz"
        profile.unlink(missing_ok=True)
        subprocess.run(["taskset", "-c", ",".join(map(str, cpus)), self.command, "run", "-o", profile, "--fixed-line", line,
                        "--fixed-speedup", str(speedup), "---", *command], capture_output=True, text=True, timeout=timeout,
                       env=self.environment())
        return rate_of(profile.read_text()) if profile.exists() else None


def unpacked(folder):
    """COZ below folder, fetched once."""
    root = folder / "root"
    if not (root / "usr/bin/coz").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        done = subprocess.run(["apt-get", "-q", "download", *PACKAGES], cwd=folder, capture_output=True, text=True)
        archives = sorted(folder.glob("*.deb"))
        if done.returncode != 0 or len(archives) != len(PACKAGES):
            raise NoCoz(f"apt-get can't download {', '.join(PACKAGES)}: {done.stderr.strip()[-300:]}; "
                        "run `apt-get update`, or install it by packaging/scripts/install --compare")
        for archive in archives:
            subprocess.run(["dpkg", "-x", archive, root], check=True)
    libraries = next(root.glob("usr/lib/*/libdwarf++.so.0")).parent
    return Coz(root / "usr/bin/coz", root / "usr/include", libraries)


def find(folder):
    installed = shutil.which("coz")
    return Coz(pathlib.Path(installed)) if installed else unpacked(folder)


def rate_of(profile):
    """Visits a second of effective time, of all points and experiments; None where there is none."""
    duration = delta = 0
    for record in profile.splitlines():
        if record.startswith("experiment"):
            duration += int(re.search(r"duration=(\d+)", record)[1])
        elif record.startswith("throughput-point"):
            delta += int(re.search(r"delta=(\d+)", record)[1])
    return delta / duration * 1e9 if duration > 0 and delta > 0 else None
