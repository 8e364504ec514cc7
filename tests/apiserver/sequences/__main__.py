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
    from sequences.owning import compare_owning

    parser = argparse.ArgumentParser(prog="python -m tests.apiserver.sequences", description=__doc__)
    parser.add_argument("--operations", type=int, default=5_000)
    parser.add_argument("--length", type=int, default=70, help="operations in a sequence")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--shrink-seconds", type=float, default=60.0)
    parser.add_argument("--owning", action="store_true", help="owners and garbage instead, with controllers")
    options = parser.parse_args()
    with ControlPlane(controllers=options.owning) as control_plane:
        access, seed, operations = control_plane.access, options.seed, options.operations
        if options.owning:
            verdict = compare_owning(access, seed=seed, operations=operations, length=options.length)
        else:
            verdict = compare(
                access,
                seed=seed,
                operations=operations,
                length=options.length,
                shrink_seconds=options.shrink_seconds,
            )
    print(f"{verdict.operations} operations in {verdict.sequences} sequences from seed {options.seed}: ", end="")
    print(f"{verdict.seconds:.1f} s; {verdict.counterexample or 'all answers and events are equal'}")
    return 1 if verdict.counterexample else 0


if __name__ == "__main__":
    sys.exit(main())
