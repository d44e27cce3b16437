"""Write the pages of worked examples and of errata; with --check, only say whether they are what they would be."""

import argparse
import sys
from pathlib import Path

from verification.examples import errata, left_out, worked
from verification.examples.page import agrees, computed, page

DOCS = Path(__file__).parents[2] / "docs"


def pages() -> dict[Path, str]:
    """Both pages, computed now."""
    return {
        DOCS / "worked-examples.md": page(worked.HEAD, worked.PREFACE, worked.SECTIONS),
        DOCS / "errata.md": page(errata.HEAD, errata.PREFACE, errata.SECTIONS, left_out.TAIL),
    }


def disagreements() -> list[str]:
    """What was printed and is not what is computed."""
    return [
        f"{section.title}: {result.what}"
        for section in worked.SECTIONS
        for result in computed(worked.PREFACE, section)
        if not agrees(result)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.examples", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where a page would change")
    options = parser.parse_args()
    wrong = disagreements()
    for file, text in pages().items():
        same = file.exists() and file.read_text() == text
        if options.check and not same:
            wrong.append(f"{file.name} is not what it would be now")
        elif not options.check:
            file.write_text(text)
        print(f"{file.relative_to(DOCS.parent)}: {'as it was' if same else 'changed'}")
    print("\n".join(wrong) or "everything printed is what is computed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
