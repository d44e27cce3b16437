"""What `make wheel` adds to a wheel: object files of the loops that most users need first, for a baseline processor.

They fit the versions of Python, numpy, numba and llvmlite that the wheel is built with. An installation with others
compiles its loops as it does without them.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WARM = """
import sys
from pathlib import Path

import noregret as nr
from noregret.evaluation.race import default_cards
from noregret.jit.processor import find_baseline, find_target

if __name__ == "__main__":
    assert find_target() == find_baseline()
    for task in ("binary", "multiclass", "regression"):
        nr.warm([card.name for card in default_cards(task)], (task,), ("sparse", "dense"))
    for ending, text in {"svm": "1 1:1", "vw": "1 | a b:2", "jsonl": '{"label": 1, "text": "a b"}'}.items():
        path = Path(sys.argv[1], f"rows.{ending}")
        path.write_text(text + chr(10))
        list(nr.open_source(path, **({"label": "label", "text": "text"} if ending == "jsonl" else {})))
"""


class PrebuiltLoops(BuildHookInterface):
    """Compiles the loops where NOREGRET_WHEEL_LOOPS is set; numba must be there: no build isolation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or not os.environ.get("NOREGRET_WHEEL_LOOPS"):
            return
        sources = str(Path(self.root) / "src")
        sys.path.insert(0, sources)
        from noregret.jit.objects import supported
        from noregret.jit.processor import find_baseline

        baseline = find_baseline()
        if baseline is None or not supported():
            raise SystemExit("no baseline processor is known for this machine: build without NOREGRET_WHEEL_LOOPS")
        self.folder = tempfile.TemporaryDirectory(prefix="noregret-loops-")
        place = Path(self.folder.name)
        script = place / "warm_loops.py"
        script.write_text(WARM)
        environment = {
            **os.environ,
            "PYTHONPATH": sources,
            "NOREGRET_CACHE": str(place / "prebuilt"),
            "NUMBA_CPU_NAME": baseline.name,
            "NUMBA_CPU_FEATURES": baseline.features,
        }
        subprocess.run([sys.executable, "-P", str(script), str(place)], check=True, env=environment)
        for file in [*place.glob("prebuilt/objects/*.o"), *place.glob("prebuilt/warm-*")]:
            file.chmod(0o644)
            build_data["force_include"][str(file)] = str(Path("noregret/jit") / file.relative_to(place))
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()
