"""axe-core's one file: from npm once, then kept beside the build."""
import os
import shutil
import subprocess

from checks import bin_folder

VERSION = "4.14.1"
missing = ""  # why there is none


def axe_script():
    """Its text, or None."""
    global missing
    folder = os.path.join(os.path.dirname(bin_folder), "axe-core")
    script = os.path.join(folder, "node_modules", "axe-core", "axe.min.js")
    if not os.path.exists(script):
        if not shutil.which("npm"):
            missing = "no axe-core to be had: no npm"
            return None
        done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, f"axe-core@{VERSION}"], capture_output=True, text=True)
        if done.returncode != 0 or not os.path.exists(script):
            missing = "no axe-core to be had: npm can't install it"
            return None
    return open(script, encoding="utf8").read()
