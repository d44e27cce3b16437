"""Generated and mutated lines of Vowpal Wabbit's text, read by the compiled parser and by the obvious one.

    python -m verification.fuzz_text.vw_lines [LINES] [SEED]

Stops at the first difference, with the seed of the text it is in; otherwise says how many lines were the same.
"""

import random
import sys
import time

from tests.naive import vw_rows as naive
from tests.streams.test_vw import read, same

TOGETHER = 2000


def say(what: str) -> None:
    sys.stdout.write(what + "\n")
    sys.stdout.flush()


def main() -> None:
    total, seed = (int(word) for word in (sys.argv[1:] + ["2000000", "0"][len(sys.argv) - 1 :])[:2])
    done = wrong = 0
    began = time.monotonic()
    while done < total:
        rng = random.Random(seed)
        text = b"\n".join(naive.generated(rng) for _ in range(TOGETHER))
        labelled, targets = rng.random() < 0.7, rng.random() < 0.2
        expected = naive.read(text, labelled, targets)
        size = rng.choice([20_000, 1 << 16, 1 << 20])  # a line with a zero byte must fit
        parsers = rng.choice([1, 2, 3])
        try:
            found = read(text, size, parsers=parsers, on_bad="skip", labelled=labelled, targets=targets)
            same(found, expected)
            assert found.skipped == len(expected.wrong)
        except BaseException:
            say(f"the text of seed {seed} is read in two ways")
            raise
        done, wrong, seed = done + TOGETHER, wrong + len(expected.wrong), seed + 1
        if seed % 50 == 0:
            say(f"{done:,} lines, {wrong:,} of them wrong, {time.monotonic() - began:.0f} s")
    say(f"{done:,} lines read in the same way, {wrong:,} of them refused in the same way")


if __name__ == "__main__":
    main()
