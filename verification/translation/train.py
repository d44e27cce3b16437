"""Train the base model of docs/translation.md: English to German, Multi30k without captions about water and winter.

    python -m verification.translation.train --out DIR [--device cuda]

writes DIR/base.nr and DIR/train.log. Needs the extra `translation` and the data of Multi30k.
"""

import argparse
import math
import platform
import sys
import time
from pathlib import Path

from noregret.neural.translation.base_model import train_translator
from noregret.neural.translation.tensors import torch
from noregret.neural.translation.training import Plan
from verification.reproduce.data import Missing, folder
from verification.translation.domains import FILES, read_pairs, split_domains

SIZES = {"layers": 3, "width": 128, "heads": 4, "hidden": 512}
PLAN: dict[str, float] = {
    "passes": 60, "tokens": 4096, "rate": 3e-3, "warmup": 2000, "drop": 0.2, "patience": 10, "seconds": math.inf,
}  # fmt: skip
PIECES = 6000


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.translation.train", description=__doc__)
    parser.add_argument("--data", metavar="DIR", help="the folder of data; by default that of NOREGRET_DATA")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where the model and the log go")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    for name, usual in (SIZES | PLAN).items():
        parser.add_argument(f"--{name}", type=type(usual), default=usual, help=f"usually {usual:g}")
    parser.add_argument("--pairs", type=int, help="learn from so many pairs only")
    told = parser.parse_args(arguments)
    try:
        data = folder(told.data, FILES[0])
    except Missing as missing:
        print(f"python -m verification.translation.train: {missing}", file=sys.stderr)
        return 2
    told.out.mkdir(parents=True, exist_ok=True)
    with open(told.out / "train.log", "w", encoding="utf-8") as log:

        def tell(line: object) -> None:
            print(line, flush=True)
            print(line, file=log, flush=True)

        base, _ = split_domains(read_pairs(data, "train"))
        base, valid = base.between(0, told.pairs), split_domains(read_pairs(data, "val"))[0]
        sizes = {name: getattr(told, name) for name in SIZES}
        plan = Plan(device=told.device, **{name: getattr(told, name) for name in PLAN})
        where = torch().cuda.get_device_name() if told.device == "cuda" else platform.machine()
        tell(f"{time.strftime('%Y-%m-%d')}, torch {torch().__version__} on {where}; {plan}")
        tell(f"{len(base.sources):,} pairs to learn from, {len(valid.sources):,} to validate")
        translator = train_translator(base, valid, plan, PIECES, tell, **sizes)
        translator.save(told.out / "base.nr")
        tell(f"saved: {translator.sizes.count:,} weights, {translator.sizes.pieces:,} pieces")
    return 0


if __name__ == "__main__":
    sys.exit(main())
