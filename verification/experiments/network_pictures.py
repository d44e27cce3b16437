"""Draw the pictures of docs/networks.md: python -m verification.experiments.network_pictures [--data DIR]."""

import argparse
import sys
from pathlib import Path

from verification.experiments import depths, forgetting
from verification.reproduce.data import Missing, folder, must_hold

PICTURES = Path(__file__).parents[2] / "docs" / "networks"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.experiments.network_pictures", description=__doc__)
    parser.add_argument("--data", metavar="DIR", help="the folder of data; by default that of NOREGRET_DATA")
    told = parser.parse_args(arguments)
    try:
        must_hold(told.data, (*depths.FILES, *forgetting.FILES))
        base = folder(told.data, depths.FILES[0])
    except Missing as missing:
        print(f"network_pictures: {missing}", file=sys.stderr)
        return 2
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    PICTURES.mkdir(exist_ok=True)
    for name, module, panels in (("layer_weights", depths, 3), ("forgetting", forgetting, 2)):
        figure, axes = pyplot.subplots(1, panels, figsize=(3.6 * panels, 3.2), layout="constrained")
        module.draw(base, axes)
        figure.savefig(PICTURES / f"{name}.png", dpi=110)
        print(PICTURES / f"{name}.png")
    figure, axes = pyplot.subplots(2, 4, figsize=(12.0, 6.4), layout="constrained")
    forgetting.draw_matrices(base, axes)
    figure.savefig(PICTURES / "accuracy_matrix.png", dpi=110)
    print(PICTURES / "accuracy_matrix.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
