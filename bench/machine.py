"""The facts of the machine and the packages that a result is worth nothing without."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("weald", "numpy", "scipy", "scikit-learn", "xgboost", "lightgbm", "catboost", "ydf")


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _compiler() -> str:
    try:
        command = [os.environ.get("CXX", "c++"), "--version"]
        return subprocess.check_output(command, text=True).splitlines()[0]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _memory() -> str:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return "unknown"
    return f"{pages * size / 2**30:.0f} GiB"


def _versions() -> str:
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def facts() -> dict[str, str]:
    """Describe where and when this run happens."""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "CPU": _cpu(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "load at start": load,
        "OS": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": sys.version.split()[0],
        "compiler": _compiler(),
        "packages": _versions(),
    }
