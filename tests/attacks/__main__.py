"""Run every attack at full length: `python -m tests.attacks [NAME ...] [--part P]`."""

import argparse
import sys
import time

from tests.attacks.workers import run_attack

ATTACKS = {
    "model files": ("model_files:interpreted", 6000),
    "model files, compiled": ("model_files:compiled", 4000),
    "columnar": ("columnar:attack", 2400),
    "object files": ("object_files:attack", 5000),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Attack every door with inputs written to do harm.")
    parser.add_argument("names", nargs="*", help=f"of the attacks: {', '.join(ATTACKS)}; all if none is given")
    parser.add_argument("--part", type=float, default=1.0, help="the share of the inputs to try")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    args = parser.parse_args()
    failed = 0
    for name in args.names or ATTACKS:
        attack, inputs = ATTACKS[name]
        began = time.monotonic()
        report = run_attack(name, attack, max(1, int(inputs * args.part)), args.first)
        print(f"{report} ({time.monotonic() - began:.0f} s)", flush=True)
        failed += len(report.failures)
    print("nothing got through" if not failed else f"{failed} inputs did harm")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
