"""Debian source packages, fetched without root and without touching the machine's own apt.

apt-get source needs deb-src lines, which most machines don't have. We keep an apt state of our own under the
build tree: its sources are the machine's sources, read anew each time, with "deb" turned into "deb-src"; its
lists and downloads are its own. Everything else (keys, proxies, preferences) is the machine's configuration,
so apt checks signatures exactly as it does for the machine: InRelease by key, Sources and files by hash.
"""
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path


class Failure(Exception):
    """A step failed; the message names it, its cause and where the log is."""


def run_logged(command, log, **options):
    """Runs command, appending its output to log. Raises Failure when it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "ab") as out:
        out.write(f"$ {' '.join(map(str, command))}\n".encode())
        out.flush()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **options)
    if done.returncode != 0:
        tail = log.read_text(errors="replace").splitlines()[-12:]
        raise Failure(f"{Path(command[0]).name} exited with {done.returncode}; log: {log}\n  "
                      + "\n  ".join(tail))


def source_line(line):
    """A line of a .list file as its deb-src form, or None when it isn't a deb line."""
    match = re.match(r"\s*deb\s+(.*)", line)
    return f"deb-src {match[1]}" if match else None


def source_stanzas(text):
    """The enabled deb stanzas of a deb822 .sources file, with Types: deb-src."""
    stanzas = []
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if line and not line.startswith("#")]
        fields = {line.split(":")[0].lower(): line.split(":", 1)[1].strip()
                  for line in lines if ":" in line and not line[0].isspace()}
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        stanzas.append("\n".join("Types: deb-src" if line.lower().startswith("types:") else line for line in lines))
    return "\n\n".join(stanzas) + "\n" if stanzas else ""


def release():
    """The code name of the running Debian, such as bookworm."""
    found = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
    if not found:
        raise Failure("/etc/os-release has no VERSION_CODENAME: is this a Debian machine?")
    return found[1]


class DebianSources:
    """The private apt state. root holds apt/ (state, cache, sources) and apt.log."""

    def __init__(self, root):
        self.root = root / "apt"
        self.log = root / "apt.log"

    def _apt(self, *arguments):
        options = {"Dir::State::Lists": self.root / "lists", "Dir::Cache": self.root / "cache",
                   "Dir::Etc::SourceList": self.root / "sources.list",
                   "Dir::Etc::SourceParts": self.root / "sources.list.d",
                   "Acquire::Retries": 3, "Acquire::http::Timeout": 60}
        if os.geteuid() == 0:
            options["APT::Sandbox::User"] = "root"  # _apt can't write into a private tree
        return ["apt-get", "-q"] + [f"-o{name}={value}" for name, value in options.items()] + list(arguments)

    def _write_sources(self):
        """Writes our sources; returns their text, by which we know whether the machine's have changed."""
        shell = subprocess.run(["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS",
                                "Dir::Etc::sourceparts/d"], capture_output=True, text=True, check=True).stdout
        path = {name: Path(value) for name, value in re.findall(r"(\w+)='([^']*)'", shell)}
        parts = sorted(path["PARTS"].iterdir()) if "PARTS" in path and path["PARTS"].is_dir() else []
        lists = [path["LIST"]] if "LIST" in path and path["LIST"].is_file() else []
        lists += [part for part in parts if part.suffix == ".list"]
        lines = [source_line(line) for file in lists for line in file.read_text().splitlines()]
        old_style = "".join(f"{line}\n" for line in lines if line)
        deb822 = "\n".join(filter(None, (source_stanzas(p.read_text()) for p in parts if p.suffix == ".sources")))
        if not old_style and not deb822:
            raise Failure("no deb line in apt's sources: is this a Debian machine?")
        for folder in ("lists/partial", "cache/archives/partial", "sources.list.d"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        (self.root / "sources.list").write_text(old_style)
        (self.root / "sources.list.d/machine.sources").write_text(deb822)
        return old_style + deb822

    def update(self, force=False):
        """Reads the index of source packages, unless the one we have is for the same sources."""
        stamp = self.root / "updated-for"
        digest = hashlib.sha256(self._write_sources().encode()).hexdigest()
        if not force and stamp.exists() and stamp.read_text() == digest:
            return
        run_logged(self._apt("update"), self.log)
        stamp.write_text(digest)

    def fetch(self, package, into, patched=True, members=()):
        """Unpacks a source package as folder `into`; returns its version.

        It is the release's own version, the same for everyone, whatever security updates the machine knows.
        patched: with Debian's patches applied; else upstream's archive alone, as it is. members: files and folders of that archive, as
        paths below its one folder; nothing else of it is unpacked. Failure: one isn't there.
        """
        if not shutil.which("dpkg-source"):
            raise Failure("dpkg-source not found; run packaging/scripts/install")
        self.update()
        download = self.root / "download" / package
        shutil.rmtree(download, ignore_errors=True)
        download.mkdir(parents=True)
        part = [] if patched else ["--tar-only"]
        get = self._apt("source", "--download-only", "--only-source", "--target-release", release(), *part, package)
        try:
            run_logged(get, self.log, cwd=download)
        except Failure:  # the index may be older than a point release that replaced the version
            self.update(force=True)
            run_logged(get, self.log, cwd=download)
        shutil.rmtree(into, ignore_errors=True)
        into.parent.mkdir(parents=True, exist_ok=True)
        if not patched:
            archive, = download.glob("*.orig.tar.*[!c]")  # not the detached signature, .asc
            into.mkdir()
            below = [f"*/{member}" for member in members]   # the archive's one folder has a name of its own
            run_logged(["tar", "-xf", archive, "-C", into, "--strip-components=1",
                        "--anchored", "--wildcards", "--no-wildcards-match-slash", *below], self.log)
            shutil.rmtree(download)
            return re.search(r"_(.+)\.orig\.tar", archive.name)[1]
        description, = download.glob("*.dsc")
        # --no-check: apt has checked every file against the signed index; the maintainer's own signature
        # would need Debian's developer keyring.
        run_logged(["dpkg-source", "--no-check", "-x", description, into], self.log)
        version = re.search(r"^Version: (\S+)$", description.read_text(), re.M)[1]
        shutil.rmtree(download)
        return version
