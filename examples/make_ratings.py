"""Generate ratings.csv: films rated from 1 to 5 by viewers of three tastes."""

import csv
from pathlib import Path

import numpy as np

GENRES = ("action", "comedy", "drama")
USERS, FILMS, ROWS = 60, 36, 1500


def main(folder: Path) -> None:
    rng = np.random.default_rng(5)
    tastes = rng.normal(size=(USERS, len(GENRES)))
    kindness, quality = 0.4 * rng.normal(size=USERS), 0.5 * rng.normal(size=FILMS)
    films = [f"{GENRES[film % len(GENRES)]} {film // len(GENRES) + 1}" for film in range(FILMS)]
    rows, time = [], 0
    for _ in range(ROWS):
        user, film = int(rng.integers(USERS)), int(FILMS * rng.random() ** 1.5)
        exact = 3.2 + kindness[user] + quality[film] + 0.9 * tastes[user, film % len(GENRES)] + 0.3 * rng.normal()
        time += int(rng.integers(1, 100))
        rows.append((user + 1, films[film], int(np.clip(np.rint(exact), 1, 5)), time))
    with open(folder / "ratings.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerows([("user", "item", "rating", "time"), *rows])


if __name__ == "__main__":
    main(Path(__file__).parent)
