"""Run every attack at full length: `python -m tests.attacks [NAME ...] [--part P] [--first N]`."""

import argparse
import subprocess
import sys
import time

from tests.attacks.workers import run_attack

ATTACKS = {
    "model-files": ("model_files:interpreted", 6000),
    "compiled-models": ("model_files:compiled", 4000),
    "cut-calls": ("cut_calls:cut", 6000),
    "stopped-calls": ("cut_calls:stop", 6000),
    "calls-again": ("cut_calls:call", 3000),
    "resumed-models": ("resumed:attack", 1000),
    "columnar-files": ("columnar:attack", 2400),
    "object-files": ("object_files:attack", 5000),
    "changing-matrices": ("changing_matrix:attack", 54),
}
"""By name: the module and function that tries one input, and how many are tried."""
TEXTS = {
    "libsvm": ("lines", "libsvm", 400_000), "csv": ("lines", "csv", 40_000), "jsonl": ("lines", "jsonl", 100_000),
    "vw": ("vw_lines", None, 200_000),
}  # fmt: skip
"""By format: the program of verification/fuzz_text, its argument, and how many lines are read in two ways."""


def main() -> int:
    names = [*ATTACKS, *TEXTS]
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description="Inputs written to do harm.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(names)}; all if none is given")
    parser.add_argument("--part", type=float, default=1.0, help="the share of the inputs to try")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in names]
    if unknown:
        parser.error(f"there is no attack {unknown[0]!r}; there are {', '.join(names)}")
    failed = sum(run(name, args.part, args.first) for name in args.names or names)
    print("nothing got through" if not failed else f"{failed} inputs did harm", flush=True)
    return int(failed > 0)


def run(name: str, part: float, first: int) -> int:
    """Run one attack; returns how many inputs did harm."""
    began = time.monotonic()
    if name in TEXTS:
        program, kind, lines = TEXTS[name]
        words = [f"verification.fuzz_text.{program}", *([] if kind is None else [kind]), str(int(lines * part) or 1)]
        code = subprocess.run([sys.executable, "-m", *words, str(first)], check=False).returncode
        print(f"{name}: exit code {code} ({time.monotonic() - began:.0f} s)", flush=True)
        return int(code != 0)
    attack, inputs = ATTACKS[name]
    report = run_attack(name, attack, max(1, int(inputs * part)), first)
    print(f"{report} ({time.monotonic() - began:.0f} s)", flush=True)
    return len(report.failures)


if __name__ == "__main__":
    sys.exit(main())
