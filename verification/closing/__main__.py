"""Write the closing table of docs/reproductions.md: every learner with its tests, mutants and published results."""

import argparse

from verification.closing.named import fault, named
from verification.closing.page import PAGE, learner_names, page


def faults() -> list[str]:
    """Learners that are not in the list, and tests named there that are not what they should be."""
    listed, learners = named(), set(learner_names())
    found = [f"{name}: not in verification/closing/tests.toml" for name in sorted(learners - set(listed))]
    found += [f"{name}: no learner, but in verification/closing/tests.toml" for name in sorted(set(listed) - learners)]
    for name, tests in listed.items():
        if not tests.one_step or not tests.theorem:
            found.append(f"{name}: needs a test of one step and one of its theorem")
        found += filter(None, (fault(test, name) for test in (*tests.one_step, *tests.theorem)))
    return found


def main() -> int:
    argparse.ArgumentParser(prog="python -m verification.closing", description=__doc__).parse_args()
    if wrong := faults():
        print(*wrong, sep="\n")
        return 1
    text = page()
    same = PAGE.read_text(encoding="utf-8") == text
    PAGE.write_text(text, encoding="utf-8")
    print(f"docs/{PAGE.name}: {'as it was' if same else 'changed'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
