"""Compiled code is the same code: kept on disk, compiled anew only when its text changed, and never in the way."""

import os
import random
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.algebra.kernel_functions import KERNELS
from noregret.jit import compiled, objects
from noregret.jit.elf import undefined_symbols
from noregret.jit.layout import address, fill
from noregret.learner.state_options import COVARIANCES
from noregret.rules.rule_card import RuleCard
from noregret.tasks import TASKS
from noregret.tasks.assemble import Plan
from tests.support import by_name, by_number, load_own_rules, registered, small_stream
from tests.support.cover import ALL, cover, only_in_test_all
from tests.support.processes import Told, in_a_process

pytestmark = pytest.mark.compiles
X, Y = small_stream()
own = load_own_rules()

PLAYING = """
import noregret as nr
wide = sp.csr_array(([1.0], ([0], [99_999])), shape=(1, 100_000))
learner = nr.make("pa1").learn(wide, [1]).learn(sp.csr_array(X), Y)
learner.learn_one({0: 1.0}, 1).predict_one({0: 1.0})
said = learner.scores(X).tolist(), "numba" in sys.modules
"""


# ---- the cache ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first_process(tmp_path_factory: pytest.TempPathFactory) -> tuple[Told, Path]:
    """What a process of an empty cache computed, and the cache that it left."""
    cache = tmp_path_factory.mktemp("cache")
    return in_a_process(PLAYING, cache=cache), cache


def test_a_later_process_needs_no_compiler_and_computes_the_same(first_process: tuple[Told, Path]) -> None:
    first, cache = first_process
    assert {"binary_pa1_sparse_loss", "read_dict"} <= set(first.compiled)
    assert len(first.compiled) == len(set(first.compiled))
    scores, with_compiler = first.said
    assert with_compiler
    second = in_a_process(PLAYING, cache=cache)
    assert second.log == []
    again, with_compiler = second.said
    assert again == scores
    assert with_compiler != objects.supported()


@only_in_test_all
def test_a_damaged_file_costs_one_loop(first_process: tuple[Told, Path], tmp_path: Path) -> None:
    first, cache = first_process
    shutil.copytree(cache, tmp_path, dirs_exist_ok=True)
    damaged = next(tmp_path.rglob("*binary_pa1_sparse*.o"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    again = in_a_process(PLAYING, cache=tmp_path)
    assert again.compiled == ["binary_pa1_sparse_loss"]
    assert again.said == first.said


@pytest.mark.skipif(not objects.supported(), reason="the compiler keeps its own cache here")
def test_an_object_file_that_is_cut_or_changed_is_never_loaded(
    first_process: tuple[Told, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, cache = first_process
    shutil.copytree(cache, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path))
    for file in sorted((tmp_path / "objects").iterdir()):
        content = file.read_bytes()
        for damaged in (content[:-7], content[:20], b"", content[:-1] + bytes([content[-1] ^ 1])):
            file.write_bytes(damaged)
            assert objects.load(file.stem.rpartition("-")[0]) is None
        file.write_bytes(content)
        assert objects.load(file.stem.rpartition("-")[0]) is not None


@pytest.mark.skipif(not objects.supported(), reason="the compiler keeps its own cache here")
def test_an_object_that_needs_what_is_not_there_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import llvmlite.binding as llvm

    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path))
    objects.get_linker()
    text = "declare double @nowhere_to_be_found(double)\ndefine double @asks(double %x) {{\n{}\n}}"
    machine = llvm.Target.from_default_triple().create_target_machine()
    for body, needed in (
        ("%y = call double @nowhere_to_be_found(double %x)\nret double %y", ["nowhere_to_be_found"]),
        ("ret double %x", []),
    ):
        code = machine.emit_object(llvm.parse_assembly(text.format(body)))
        assert undefined_symbols(code, "asks") == needed
        objects.save("asks", "asks", code)
        assert (objects.load("asks") is None) == bool(needed)


@pytest.mark.skipif(not objects.supported(), reason="the compiler keeps its own cache here")
def test_an_object_that_others_could_have_written_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import llvmlite.binding as llvm

    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path))
    objects.get_linker()
    machine = llvm.Target.from_default_triple().create_target_machine()
    code = machine.emit_object(llvm.parse_assembly("define double @same(double %x) {\nret double %x\n}"))
    objects.save("mine", "same", code)
    file = objects.path_of("mine")
    file.chmod(0o620)
    assert objects.load("mine") is None
    file.chmod(0o602)
    assert objects.load("mine") is None
    file.chmod(0o600)
    objects.path_of("another").write_bytes(file.read_bytes())
    objects.path_of("another").chmod(0o600)
    assert objects.load("another") is None
    assert objects.load("mine") is not None


def test_compiling_while_this_thread_compiles_is_refused() -> None:
    def nest() -> Any:
        return compiled.get_entry("inner", lambda: compiled.Entry("inner", 0))

    with pytest.raises(nr.Error, match="is being compiled"):
        compiled.get_entry("outer", nest)
    assert not {"inner", "outer"} & compiled._entries.keys()


FORKING = """
import os, signal
from noregret.jit.compiled import one_at_a_time
with one_at_a_time():
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        with one_at_a_time():
            os._exit(7)
said = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_child_of_a_fork_does_not_wait_for_a_lock_that_nobody_has() -> None:
    assert in_a_process(FORKING).said == 7


RULES = """
import noregret as nr
from noregret.algebra import add
STEPS = (0.25, 0.5)
def step(k, halves=1.0):
    return STEPS[k] * halves
@nr.margin_rule(paper="mine", state={"w": nr.plain})
def walking(p, s, z, margin):
    if margin < 1.0:
        add(s.w, step(1), z)
        return True
    return False
@nr.margin_rule(paper="mine", state={"w": nr.plain})
def standing(p, s, z, margin):
    if s.n.t > 1e9:
        raise ValueError("old")
    return False
"""
USING = """
import noregret as nr
import {module} as mine
said = [nr.make(rule).learn(X, Y).scores(X[:1])[0] for rule in (mine.walking, mine.standing)]
"""


@only_in_test_all
def test_only_an_edit_recompiles_and_only_the_rule_it_touches(tmp_path: Path) -> None:
    def after(text: str, module: str) -> tuple[list[str], Any]:
        (tmp_path / f"{module}.py").write_text(text)
        told = in_a_process(USING.format(module=module), cache=tmp_path / "cache", path=tmp_path)
        return told.compiled, told.said[0]

    compiled, score = after(RULES, "early")
    assert compiled == ["binary_standing_dense", "binary_walking_dense"]
    (tmp_path / "early.py").unlink()
    assert after(f"# the same rules in another file\n{RULES}", "late") == ([], score)
    compiled, other = after(RULES.replace("(0.25, 0.5)", "(0.25, 0.75)"), "late")
    assert compiled == ["binary_walking_dense"]
    assert other != score


@only_in_test_all
def test_a_cache_that_cannot_be_written_is_said_once_and_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    playing = 'import noregret as nr; nr.make("pa1", algebra="sparse").learn(X, Y)'
    told = in_a_process(playing, cache=tmp_path / "file" / "cache")
    assert len(told.warned) == 1
    assert "cannot be written" in told.warned[0]
    assert "NOREGRET_CACHE" in told.warned[0]
    assert "binary_pa1_sparse_loss" in told.compiled


@only_in_test_all
def test_warming_compiles_ahead_in_processes_that_share_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path))
    assert nr.warm(["pa1"], tasks=("binary",), algebras=("sparse", "dense"), processes=2) == 2
    playing = """
import noregret as nr
for rows in (X, sp.csr_array(X)):
    nr.make("pa1").learn(rows, Y).learn_one({0: 1.0}, 1).predict_one({0: 1.0})
"""
    assert in_a_process(playing, cache=tmp_path).log == []


def plans(card: RuleCard) -> Iterator[Plan]:
    """Every loop that can be made of a card."""
    options = [[(name, option) for option in choice.among] for name, choice in card.choices.items()]
    covariances = COVARIANCES if any(field.kind == "covariance" for field in card.state.values()) else ("diagonal",)
    for task, algebra, covariance in product(card.tasks, card.algebras, covariances):
        for kernel, *chosen in product(KERNELS if algebra == "kernel" else ("rbf",), *options):
            setup = tuple((name, choice.default) for name, choice in TASKS[task].options.items())
            yield Plan(card, TASKS[task], algebra, covariance, str(kernel), tuple(chosen), setup=setup)  # type: ignore[arg-type]


def test_no_two_loops_share_an_entry_of_the_cache() -> None:
    cards = [*nr.learners().rules.values(), own.halfway, own.steady]
    every = [plan for card in cards for plan in plans(card)]
    assert len(every) > 100
    assert len({plan.name for plan in every}) == len(every)
    some = every if ALL else random.Random(2006).sample(every, 300)
    assert len({compiled.fingerprint_plan(plan) for plan in some}) == len(some)


def symbol(text: str, file: Path) -> str:
    """The name by which the loop of the first rule of a text is cached."""
    file.write_text(text)
    learner = nr.make(load_own_rules(file).walking, algebra="dense")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "load_or_compile", stop)
        with pytest.raises(Stop) as stopped:
            learner.learn(X, Y)
    return str(stopped.value)


class Stop(BaseException):
    """Raised in place of compiling."""


def stop(symbol: str, compile_it: Any) -> Any:
    raise Stop(symbol)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("margin < 1.0", "margin <= 1.0"),
        ("margin < 1.0", "margin < 2.0"),
        ("step(1)", "step(0)"),
        ("(0.25, 0.5)", "(0.25, 0.75)"),
        ("(0.25, 0.5)", "np.array([0.25, 0.75])"),
        ("halves=1.0", "halves=0.5"),
        ("STEPS[k] * halves", "STEPS[k] / halves"),
        ("STEPS[k]", "sum([q for q in STEPS])"),
        ("STEPS[k]", "math.pi"),
        ('"w": nr.plain', '"w": nr.plain, "v": nr.plain'),
        ("params={}", "params={'C': nr.Param(1.0)}"),
    ],
)
def test_whatever_is_edited_in_a_rule_gives_it_another_entry(old: str, new: str, tmp_path: Path) -> None:
    text = RULES.replace("import noregret as nr", "import math, numpy as np, noregret as nr")
    text = text.replace('"mine", ', '"mine", params={}, ', 1)
    assert old in text
    assert symbol(text.replace(old, new, 1), tmp_path / "a.py") != symbol(text, tmp_path / "b.py")


def test_an_edit_inside_a_comprehension_or_another_constant_is_seen(tmp_path: Path) -> None:
    text = RULES.replace("STEPS[k]", "sum([q * 2.0 for q in STEPS])")
    assert symbol(text, tmp_path / "a.py") != symbol(text.replace("2.0", "3.0"), tmp_path / "b.py")
    text = RULES.replace("(0.25, 0.5)", "np.array([0.25, 0.5])").replace(
        "import noregret", "import numpy as np\nimport noregret"
    )
    assert symbol(text, tmp_path / "a.py") != symbol(text.replace("0.5]", "0.75]"), tmp_path / "b.py")


def test_remarks_docstrings_and_papers_are_no_edits(tmp_path: Path) -> None:
    other = RULES.replace("    if margin", '    """Walk."""\n    # on\n    if margin').replace('"mine"', '"ours"')
    assert symbol(other, tmp_path / "a.py") == symbol(RULES, tmp_path / "b.py")


# ---- one loop for all data ----------------------------------------------------------------------------------------


def test_no_kind_of_input_needs_a_loop_of_its_own() -> None:

    def kinds(rows: np.ndarray) -> Iterator[Any]:
        frozen = rows.copy()
        frozen.flags.writeable = False
        yield from (rows, frozen, rows.astype(np.float32), np.asfortranarray(rows), rows[::2], rows.astype(int))
        yield from (sp.csr_matrix(rows), sp.csr_matrix(rows, dtype=np.float32), sp.coo_array(rows), sp.csc_array(rows))
        yield from ([by_number(row) for row in rows],)

    dense, sparse = nr.make("pa1", algebra="dense"), nr.make("pa1", algebra="sparse")
    for learner in (dense, sparse):
        learner.learn(X, Y).predict(X)
        learner.learn_one(by_number(X[0]), 1)
    made = len(compiled._entries)
    for learner, rows in product((dense, sparse), kinds(X)):
        count = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        learner.learn(rows, Y[:count]).predict(rows)
        learner.learn(rows, Y[:count].astype(float), weight=np.ones(count, np.float32))
        learner.learn(rows, Y[:count].tolist())
        learner.learn_one(by_number(X[0].astype(np.float32)), np.int8(1))
    assert len(compiled._entries) == made


# ---- a rule of one's own ------------------------------------------------------------------------------------------


PLACES = list(
    product(
        ["halfway", "steady"],
        [
            task
            for task in TASKS
            if task not in ("bandit", "one-class", "ranking", "convex", "factored", "unsupervised", "recommendation")
        ],
        ["sparse", "dense", "kernel"],
    )
)
COVERED = cover(PLACES, set)


@pytest.mark.parametrize(("name", "task", "algebra"), PLACES if ALL else COVERED)
@pytest.mark.thinned(2)
def test_a_rule_of_ones_own_runs_compiled_and_equals_itself(name: str, task: str, algebra: str) -> None:
    rows = np.vstack([X, 1.5 * X])
    several = [["a"], ["b", "c"], ["d"], ["a", "d"]] * 10
    labels: dict[str, Any] = {"binary": [*Y, *Y], "multiclass": ["a", "b", "c", "d"] * 10, "multilabel": several}
    labels["one-class"] = None
    y: Any = labels.get(task, rows[:, 0])
    told = {"rule": getattr(own, name), "task": task, "algebra": algebra}
    compiled, interpreted = (nr.make(native=native, **told) for native in (True, False))
    transcripts = [learner.play(rows, y) for learner in (compiled, interpreted)]
    assert compiled._loops.engine.native
    np.testing.assert_allclose(transcripts[0].scores, transcripts[1].scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(compiled.scores(rows), interpreted.scores(rows), rtol=1e-12, atol=1e-12)


def test_a_rule_of_ones_own_is_listed_saved_and_raced(tmp_path: Path) -> None:
    with registered(own.halfway):
        assert "halfway" in nr.learners()
        learner = nr.make("halfway", C=0.25).learn([by_name(row) for row in X], Y)
        learner.save(tmp_path / "model.nr")
        assert nr.load(tmp_path / "model.nr").predict_one(by_name(X[0])) == learner.predict_one(by_name(X[0]))
        race = nr.race((X, Y), ["pa1", own.halfway])
        assert {standing.name for standing in race} == {"pa1", "halfway"}


def test_addresses_are_those_of_numpy_for_arrays_of_every_kind_and_for_records() -> None:
    whole = np.arange(24.0)
    frozen = whole.copy()
    frozen.setflags(write=False)
    matrix = whole.reshape(4, 6)
    for array in (whole, whole[3:], frozen[1:], matrix[1:, 2:], whole[:0], matrix.astype(np.uint8)):
        assert address(array) == array.__array_interface__["data"][0]
    records = np.zeros(3, dtype=[("t", "f8"), ("loss", "f8")]).view(np.recarray)
    for number in range(3):
        table = np.zeros(1, np.int64)
        fill(table, 0, records[number])
        assert table[0] == address(records) + 16 * number
