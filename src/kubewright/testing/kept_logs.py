"""The logs of control planes that failed: kept in the cache folder, a folder for each failure, and only the newest."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kubewright.testing.paths import cache_dir

__all__ = ["keep_logs"]

_KEPT: Final = 10


def keep_logs(logs: Path, env: Mapping[str, str]) -> Path | None:
    """Copy a folder of logs, remove the oldest copies, and return where it is; None if that cannot be written."""
    kept = cache_dir(env) / "logs"
    now = datetime.datetime.now(datetime.UTC)
    target = kept / f"{now:%Y%m%d-%H%M%S-%f}-{os.getpid()}"
    try:
        shutil.copytree(logs, target)
        for old in sorted(kept.iterdir())[:-_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return None
    return target
