"""Names of workers, and whether the process behind one is still there."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import socket
import sys
from contextlib import suppress
from pathlib import Path

_SERIAL = itertools.count(1)
_NAME = re.compile(r"(?P<place>.+/[0-9a-f]{8})/(?P<process>\d+)\.(?P<start>\d+)/\d+(-\d+)?")


def _place() -> str:
    """The machine, as far as process numbers mean something on it: a container has its own."""
    host = socket.gethostname()
    apart = [host]
    with suppress(OSError):
        apart.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
    with suppress(OSError):
        apart.append(os.readlink("/proc/self/ns/pid"))
    return f"{host}/{hashlib.sha256('|'.join(apart).encode()).hexdigest()[:8]}"


def _start(process: int) -> int | None:
    """When a process began, by the system's own count; 0 where the system does not say, ``None`` if it is gone."""
    try:
        # The name of the program may have blanks and brackets; what counts stands behind it.
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return None if fields[0] in "ZX" else int(fields[19])
    except (FileNotFoundError, ProcessLookupError):
        return None if Path("/proc/self/stat").exists() else 0
    except (OSError, IndexError, ValueError):
        return 0


def fresh() -> str:
    """A name that no other worker has, of this process."""
    process = os.getpid()
    return f"{_place()}/{process}.{_start(process) or 0}/{next(_SERIAL)}"


def is_gone(worker: str | None) -> bool:
    """Whether a worker was a process of this machine that has ended. Where that cannot be told, it has not."""
    found = _NAME.fullmatch(worker or "")
    if found is None or found["place"] != _place():
        return False
    process, begun = int(found["process"]), int(found["start"])
    now = _start(process)
    if now is None:
        return True
    if begun and now:
        return now != begun
    if sys.platform == "win32":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
