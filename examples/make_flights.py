"""Generate flights.csv: flights that come first without and later with the label that says how they arrived."""

import random
from pathlib import Path

FLIGHTS = 60


def main() -> None:
    rng = random.Random(4)
    lines, flying, number = ["flight,carrier,distance,arrival"], list[tuple[int, str, int, str]](), 0
    while number < FLIGHTS or flying:
        if number < FLIGHTS and (len(flying) < 6 or rng.random() < 0.5):
            number += 1
            carrier, distance = rng.choice(["DL", "US", "AA"]), 100 * rng.randrange(2, 40)
            late = 1.2 * (carrier == "AA") + distance / 2500 + rng.gauss(0.0, 0.25) > 1.2
            lines.append(f"{number},{carrier},{distance},?")
            flying.append((number, carrier, distance, "late" if late else "on_time"))
        else:
            lines.append(",".join(map(str, flying.pop(rng.randrange(len(flying))))))
    (Path(__file__).parent / "flights.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
