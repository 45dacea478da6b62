"""LLVM's tools of the version that the tested szc takes: the default of the build, `export LLVM_TESTED=22` for another one."""
import os
import shutil

VERSION = os.environ.get("LLVM_TESTED", "19")


def tool(name):
    """clang: clang-19, by its path where the name of Debian's packages isn't on the PATH."""
    return f"{name}-{VERSION}" if shutil.which(f"{name}-{VERSION}") else f"/usr/lib/llvm-{VERSION}/bin/{name}"


def flang():
    """None where it isn't installed. LLVM 19 still says flang-new."""
    return shutil.which(f"flang-new-{VERSION}") or shutil.which(f"flang-{VERSION}")
