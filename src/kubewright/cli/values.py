"""What several commands read from their arguments in the same way. It imports nothing that costs a start."""

from __future__ import annotations

import argparse

__all__ = ["node_count"]


def node_count(text: str) -> int:
    """How many simulated nodes there are to be. Raises argparse.ArgumentTypeError."""
    if not text.isascii() or not text.isdigit() or int(text) > 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of nodes; give one from 0 to 10000")
    return int(text)
