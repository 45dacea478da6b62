"""axe-core's one file: from npm once, then kept beside the build."""
import os
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import BIN, run  # noqa: E402

VERSION = "4.14.1"
missing = ""  # why there is none


def axe_script():
    """Its text, or None."""
    global missing
    folder = os.path.join(BIN.parent, "axe-core")
    script = os.path.join(folder, "node_modules", "axe-core", "axe.min.js")
    if not os.path.exists(script):
        if not shutil.which("npm"):
            missing = "no axe-core to be had: no npm"
            return None
        done = run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, f"axe-core@{VERSION}", code=None)
        if done.returncode != 0 or not os.path.exists(script):
            missing = "no axe-core to be had: npm can't install it"
            return None
    return open(script, encoding="utf8").read()
