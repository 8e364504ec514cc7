"""Compares the servers: `python -m tests.apiserver.sequences [--operations N] [--seed N]`."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

# The folder that pytest puts on the path, so that imports are the same in both.
sys.path.insert(0, str(Path(__file__).parents[1]))


def main() -> int:
    from kubewright.testing.controlplane import ControlPlane
    from sequences.judging import compare

    parser = argparse.ArgumentParser(prog="python -m tests.apiserver.sequences", description=__doc__)
    parser.add_argument("--operations", type=int, default=5_000)
    parser.add_argument("--length", type=int, default=70, help="operations in a sequence")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--shrink-seconds", type=float, default=60.0)
    options = parser.parse_args()
    with ControlPlane() as control_plane:
        verdict = compare(
            control_plane.access,
            seed=options.seed,
            operations=options.operations,
            length=options.length,
            shrink_seconds=options.shrink_seconds,
        )
    print(f"{verdict.operations} operations in {verdict.sequences} sequences from seed {options.seed}: ", end="")
    print(f"{verdict.seconds:.1f} s; {verdict.counterexample or 'all answers and events are equal'}")
    return 1 if verdict.counterexample else 0


if __name__ == "__main__":
    sys.exit(main())
