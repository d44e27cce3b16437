"""Compiled functions are cached by their code: whatever changes it gives another name, nothing else does."""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import noregret
from noregret.algebra.covariance import Diagonal
from noregret.algebra.examples import Sparse, SparseRows
from noregret.algebra.internal_verbs import row
from noregret.algebra.verbs import dot, image
from noregret.jit.fingerprint import digest_code, digest_module, fingerprint
from tests.support.cover import only_in_test_all

PACKAGE = Path(noregret.__file__).parent

# ---- one function -------------------------------------------------------------------------------------------------

TEXT = """
import math
import numpy as np
STEPS = (0.25, 0.5)
TABLE = np.array([1.0, 2.0])
KNOWN = frozenset({"a", "b", "c"})
def step(k, halves=1.0):
    return STEPS[k] * halves
def walk(p, s):
    for q in [r * 2.0 for r in STEPS]:
        s = s + q
    if p is None:
        return None
    return math.sqrt(step(1)) + TABLE[0] + ("a" in KNOWN)
"""


def made(text: str, name: str = "walk") -> FunctionType:
    module = ModuleType("made")
    exec(compile(text, "made.py", "exec"), module.__dict__)
    function: FunctionType = getattr(module, name)
    return function


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("r * 2.0", "r * 3.0"),
        ("(0.25, 0.5)", "(0.25, 0.75)"),
        ("(0.25, 0.5)", "[0.25, 0.5]"),
        ("[1.0, 2.0]", "[1.0, 3.0]"),
        ("[1.0, 2.0]", "[1, 2]"),
        ('"c"', '"d"'),
        ("halves=1.0", "halves=0.5"),
        ("halves=1.0", "halves=1"),
        ("* halves", "/ halves"),
        ("step(1)", "step(True)"),
        ("import math", "import cmath as math"),
        ("math.sqrt", "math.exp"),
        ("return None", "return 0"),
        ("s + q", "s - q"),
    ],
)
def test_every_edit_of_code_or_of_a_constant_counts(old: str, new: str) -> None:
    assert old in TEXT
    assert fingerprint([made(TEXT.replace(old, new, 1))]) != fingerprint([made(TEXT)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import math", '"""A module."""\n# a remark\nimport math\n\n'),
        ("def walk(p, s):", 'def walk(p, s):\n    """Walk."""\n    # on\n'),
        ("def walk(p, s):", "def walk(p: float, s: 'float') -> float:\n"),
        ("def step(k, halves=1.0):", 'def step(k: int, halves: float = 1.0):\n    """One step."""'),
        ("r * 2.0 for r in", "each * 2.0 for each in"),
        ("STEPS = ", "UNUSED = 3\nSTEPS = "),
    ],
)
def test_remarks_docstrings_annotations_and_local_names_do_not_count(old: str, new: str) -> None:
    assert old in TEXT
    assert fingerprint([made(TEXT.replace(old, new, 1))]) == fingerprint([made(TEXT)])


def test_a_docstring_may_be_added_to_a_function_that_uses_none() -> None:
    bare, told = "def f(x):\n    return None", 'def f(x):\n    """Say nothing."""\n    return None'
    assert digest_code(made(bare, "f").__code__) == digest_code(made(told, "f").__code__)


@only_in_test_all
def test_the_order_of_a_set_in_this_process_does_not_count() -> None:
    program = f"import sys; sys.path[:] = {sys.path!r}\nfrom tests.jit.test_fingerprint import *\n"
    program += "print(fingerprint([made(TEXT)]))"
    marks = {run_python(program, {"PYTHONHASHSEED": seed}) for seed in ("0", "1", "2")}
    assert len(marks) == 1


def run_python(program: str, environment: dict[str, str]) -> str:
    ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_options_types_and_bindings_count() -> None:
    walk = made(TEXT)
    marks = [
        fingerprint([walk]),
        fingerprint([walk], options=1),
        fingerprint([walk], bindings={"step": made(TEXT.replace("* halves", "/ halves"), "step")}),
        fingerprint([made(TEXT, "step"), walk]),
    ]
    assert len(set(marks)) == len(marks)


def test_which_of_two_equal_functions_is_bound_where_counts() -> None:
    text = "def one(f): return f(x)\ndef two(f): return f(x)\nx = 1\ndef call(a): return one(a) + two(two(a))\n"
    other = text.replace("one(a) + two(two(a))", "two(a) + one(one(a))")
    assert fingerprint([made(text, "call")]) != fingerprint([made(other, "call")])


def test_only_implementations_for_the_types_at_hand_count() -> None:
    def rule(s: Any, z: Any) -> Any:
        return dot(s, z)

    rule.__globals__.setdefault("dot", dot)
    sparse = fingerprint([rule], [Sparse])
    implementation = dot.find((np.ndarray, Sparse))
    assert implementation is not None
    assert sparse != fingerprint([rule], [])
    dot.table[(Diagonal, Sparse)] = implementation
    try:
        assert fingerprint([rule], [Sparse]) == sparse
        assert fingerprint([rule], [Sparse, Diagonal]) != sparse
    finally:
        del dot.table[(Diagonal, Sparse)]


def test_a_module_is_hashed_without_being_imported() -> None:
    before = set(sys.modules)
    assert digest_module("noregret.jit.compiler") != digest_module("noregret.jit.overloads")
    assert set(sys.modules) - before <= {"noregret.jit"}


# ---- the whole package --------------------------------------------------------------------------------------------

SYMBOLS = """
import json
import numpy as np
import noregret as nr
from noregret.jit import compiled, dict_reader
from noregret.streams import csv, libsvm, vw

symbols = {}

class Stop(BaseException):
    pass

def symbol_of(name, act):
    def stop(symbol, compile_it):
        symbols[name] = symbol
        raise Stop
    compiled.load_or_compile = stop
    try:
        act()
    except Stop:
        pass

X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0, 1, 1])
for name in ("pa1", "arow", "ogd", "adagrad"):
    for algebra in ("sparse", "dense"):
        for task in ("binary", "multiclass", "regression"):
            if task not in nr.learners()[name].tasks:
                continue
            learner = nr.make(name, task=task, algebra=algebra)
            symbol_of(f"{name} {algebra} {task}", lambda: learner.learn(X, y * 1.0 if task == "regression" else y))
symbol_of("pa1 kernel", lambda: nr.make("pa1", algebra="kernel").learn(X, y))
symbol_of("undo", compiled.get_undo_log)
symbol_of("round", compiled.get_guarded_round)
symbol_of("dict", dict_reader.get_dict_reader)
symbol_of("libsvm", libsvm.compile_parser)
symbol_of("csv", csv.compile_parser)
symbol_of("vw", vw.compile_parser)
print(json.dumps(symbols))
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "noregret", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def symbols(folder: Path) -> dict[str, str]:
    program = f"import sys; sys.path.insert(0, {str(folder)!r})\n{SYMBOLS}"
    environment = {"PYTHONDONTWRITEBYTECODE": "1", "NOREGRET_CACHE": str(folder / "cache")}
    found: dict[str, str] = json.loads(run_python(program, environment))
    return found


@pytest.fixture(scope="module")
def before(copied: Path) -> dict[str, str]:
    found = symbols(copied)
    assert len(found) > 20
    return found


def test_no_two_functions_share_a_name(before: dict[str, str]) -> None:
    assert len(set(before.values())) == len(before)


class Remarks(ast.NodeTransformer):
    """Other docstrings, other annotations of functions; comments and line numbers go when a tree becomes text."""

    depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        if self.depth == 0:
            node.returns = ast.Constant("edited")
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                argument.annotation = ast.Constant("edited")
        self.comment(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        self.comment(node)
        return node

    def comment(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        text = ast.Expr(ast.Constant("Edited."))
        if ast.get_docstring(node) is None:
            node.body.insert(0, text)
        else:
            node.body[0] = text


@only_in_test_all
def test_edits_of_docstrings_comments_and_annotations_recompile_nothing(
    copied: Path, before: dict[str, str], tmp_path: Path
) -> None:
    shutil.copytree(copied / "noregret", tmp_path / "noregret")
    for file in (tmp_path / "noregret").rglob("*.py"):
        if file.parent.name in ("algebra", "tasks", "jit", "state", "learners", "rules", "streams"):
            tree = Remarks().visit(ast.parse(file.read_text()))
            file.write_text("# edited\n" * 7 + ast.unparse(ast.fix_missing_locations(tree)))
    assert symbols(tmp_path) == before


def edit(folder: Path, function: Callable[..., Any]) -> None:
    """Add an assignment to a function of the package in a copy of it."""
    code = function.__code__
    file = folder / "noregret" / Path(code.co_filename).relative_to(PACKAGE)
    lines = file.read_text().splitlines(keepends=True)
    tree = ast.parse("".join(lines))
    node = next(
        one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == code.co_name
        and min([one.lineno, *(decorator.lineno for decorator in one.decorator_list)]) == code.co_firstlineno
    )  # fmt: skip
    first = node.body[1] if ast.get_docstring(node) is not None else node.body[0]
    lines.insert(first.lineno - 1, " " * first.col_offset + "edited = 1.5\n")
    file.write_text("".join(lines))


def edits() -> dict[str, tuple[Callable[..., Any], Callable[[str], bool]]]:
    """Functions, and which of the symbols must change when one is edited."""
    from noregret.jit import compiler, dict_reader, overloads
    from noregret.learners import passive_aggressive
    from noregret.rules.losses import hinge_slope
    from noregret.state import guarded_round

    sparse_row, diagonal_image = row.find((SparseRows, int)), image.find((Diagonal, Sparse))
    assert sparse_row is not None
    assert diagonal_image is not None
    return {
        "rule": (passive_aggressive.pa1.rule, lambda name: name.startswith("pa1")),
        "loss": (hinge_slope, lambda name: name.startswith(("ogd", "adagrad"))),
        "image": (diagonal_image, lambda name: name.startswith("arow")),
        "largest": (guarded_round.largest, lambda name: name in ("round", "dict")),
        "reader": (dict_reader.find_feature, lambda name: name == "dict"),
        "compiler": (compiler.specialize, lambda name: True),
        "overload": (overloads.python_type, lambda name: True),
        "row": (sparse_row, lambda name: " sparse " in name),
    }


@pytest.mark.parametrize("name", ["rule", "loss", "image", "largest", "reader", "compiler", "overload", "row"])
@pytest.mark.thinned(4)
def test_an_edit_of_code_recompiles_what_uses_it_and_nothing_else(
    name: str, copied: Path, before: dict[str, str], tmp_path: Path
) -> None:
    function, uses = edits()[name]
    shutil.copytree(copied / "noregret", tmp_path / "noregret")
    edit(tmp_path, function)
    after = symbols(tmp_path)
    assert after.keys() == before.keys()
    assert {one for one in before if after[one] != before[one]} == set(filter(uses, before))
