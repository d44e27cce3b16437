"""Mutants: each change is what it says, and what is broken is noticed while what is not broken is left in peace."""

import ast
import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import noregret as nr
from noregret.learners import romma
from tests.support.cover import only_in_test_all
from verification.mutants import patch, record, report, results, subjects, verdicts
from verification.mutants.mutate import Mutant, mutants

RULE = '''
LIMIT = 1e150
HALF = 0.25


@margin_rule(paper="", counters={"k": 1.0}, score=seen, weight_param="")
def rule(p, s, z, margin):
    """What it does."""
    BODY
'''


def changed(body: str, tmp_path: Path, kind: str) -> set[str]:
    """What the first line of a body becomes, by changes of one kind."""
    file = tmp_path / "rule.py"
    file.write_text(RULE.replace("BODY", body), encoding="utf-8")
    made = [one for one in mutants(file, ["rule"]) if one.kind == kind]
    for one in made:
        ast.parse(one.source)
    return {one.now for one in made}


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("sign", "x = a + b", {"x = a - b"}),
        ("sign", "x = -a", {"x = a"}),
        ("sign", "s.n.k -= 1.0", {"s.n.k += 1.0"}),
        ("sign", "add(s.w, p.eta, z)", {"add(s.w, -(p.eta), z)"}),
        ("sign", "x = math.copysign(a, b)", {"x = a"}),
        ("term", "x = a + b", {"x = a", "x = b"}),
        ("term", "x = c * (a - b)", {"x = c * (a)", "x = c * (-b)"}),
        ("factor", "x = a * b", {"x = a", "x = b", "x = a / b"}),
        ("factor", "x = (a + b) / c", {"x = a + b", "x = (1.0 / c)", "x = (a + b) * c"}),
        ("factor", "x = (a + b) * c - d", {"x = (a + b) - d", "x = c - d", "x = (a + b) / c - d"}),
        ("power", "x = a**2", {"x = a"}),
        ("min-max", "x = min(a, b)", {"x = max(a, b)", "x = a", "x = b"}),
        ("min-max", "x = np.maximum(a, 0).sum()", {"x = np.minimum(a, 0).sum()", "x = a.sum()", "x = (0).sum()"}),
        ("min-max", "x = math.floor(a)", {"x = math.ceil(a)"}),
        ("comparison", "x = a < b", {"x = a <= b", "x = a > b"}),
        ("comparison", "x = a < b <= c", {"x = a <= b <= c", "x = a > b <= c", "x = a < b < c", "x = a < b >= c"}),
        ("logic", "x = a or b", {"x = a and b", "x = a", "x = b"}),
        ("logic", "x = not a", {"x = a"}),
        ("condition", "x = a if c else b", {"x = a", "x = b"}),
        ("shift", "x = p.eta / s.n.t", {"x = p.eta / (s.n.t + 1.0)"}),
        ("shift", "s.n.t = row(X, t)", set()),
        ("statement", "scale(s.w, a)", {"pass"}),
        ("statement", "s.n.k = a", {"pass"}),
        ("statement", "x = a", set()),
        ("statement", "super().__init__(a)", set()),
        ("constant", "x = 0.5", {"x = 1.5"}),
        ("constant", "return True", {"return False"}),
        ("function", "x = math.sqrt(a + b) * c", {"x = (a + b) * c"}),
    ],
)
def test_a_change_is_what_it_says(kind: str, body: str, expected: set[str], tmp_path: Path) -> None:
    told = {'@margin_rule(paper="", counters={"k": 2.0}, score=seen, weight_param="")'} if kind == "constant" else set()
    assert changed(body, tmp_path, kind) == expected | told


def test_of_a_card_hooks_are_dropped_and_counters_start_elsewhere(tmp_path: Path) -> None:
    told = '@margin_rule(paper="", counters={"k": 1.0}, {}weight_param="")'
    assert changed("pass", tmp_path, "hook") == {told.replace("{}", " ")}
    assert changed("pass", tmp_path, "constant") == {told.replace("1.0", "2.0").replace("{}", "score=seen, ")}


def test_mutants_that_read_the_same_are_told_apart_by_their_order(tmp_path: Path) -> None:
    file = tmp_path / "rule.py"
    file.write_text(RULE.replace("BODY", "if a:\n        return False\n    return False"), encoding="utf-8")
    turned = [one for one in mutants(file, ["rule"]) if one.now == "return True"]
    assert [(one.was, one.nth) for one in turned] == [("return False", 1), ("return False", 2)]
    assert turned[0].source != turned[1].source


def test_limits_far_out_are_taken_away_and_other_constants_doubled(tmp_path: Path) -> None:
    file = tmp_path / "rule.py"
    file.write_text(RULE.replace("BODY", "pass"), encoding="utf-8")
    assert {one.now for one in mutants(file, ["LIMIT", "HALF"])} == {"LIMIT = 1e999", "HALF = 0.5"}


@only_in_test_all
def test_every_mutant_is_python_and_none_is_the_original() -> None:
    for make in subjects.subjects().values():
        subject = make()
        assert len(subject.mutants) >= 6, subject.name
        for one in random.Random(subject.name).sample(subject.mutants, 2):
            assert ast.dump(ast.parse(one.source)) != ast.dump(ast.parse(one.file.read_text(encoding="utf-8"))), one


def test_a_learner_is_its_rule_hooks_options_bound_check_and_what_they_call() -> None:
    owners = {one.owner for one in subjects.subjects()["romma"]().mutants}
    assert owners == {"romma", "relax", "romma_bound", "PARALLEL", "LONGEST_STEP", "LONGEST"}
    owners = {one.owner for one in subjects.subjects()["perceptron"]().mutants}
    assert owners == {"perceptron", "not_right", "wrong", "can_move", "novikoff", "novikoff_from", "noisy_bound"}
    assert {one.owner for one in subjects.subjects()["rda"]().mutants} >= {"rda", "root_pace", "own_pace"}


def test_the_list_of_equivalents_holds_nothing_but_mutants() -> None:
    made = [make() for make in subjects.subjects().values()]
    assert verdicts.unmatched(verdicts.equivalents(), made) == []
    gone = ("romma.py", "relax", "was", "now", 1)
    assert verdicts.unmatched([gone], made) == [gone]
    assert all(len(reason.split()) > 3 for reason in verdicts.equivalents().values())


def test_the_code_of_a_mutant_is_found_without_running_it() -> None:
    file = Path(romma.__file__)
    source = file.read_text(encoding="utf-8")
    assert patch.code_of(source, file, "romma_bound").co_code == romma.romma_bound.__code__.co_code
    broken = patch.code_of(source.replace("radius * norm", "radius / norm"), file, "romma_bound")
    assert broken.co_code != romma.romma_bound.__code__.co_code


def test_methods_are_found_behind_their_decorators_and_setters_are_left_out(tmp_path: Path) -> None:
    from noregret.adapters import pool_sleep
    from noregret.decomposition import matrix_rows
    from noregret.metrics import baselines

    assert patch.running_function(pool_sleep, "Sleep.restore").__name__ == "restore"
    assert patch.running_function(baselines, "LabelBaselines.fits").__name__ == "fits"
    assert patch.running_function(matrix_rows, "MatrixRows.dense").__name__ == "dense"
    file = tmp_path / "rule.py"
    methods = "".join(
        f"    @{one}\n    def x(self, *_):\n        return {n}.0\n" for n, one in enumerate(("property", "x.setter"))
    )
    file.write_text(f"class A:\n{methods}", encoding="utf-8")
    assert [one.now for one in mutants(file)] == ["return 1.0"]


def test_the_counters_of_a_card_are_found_also_where_they_have_a_name() -> None:
    for card in nr.learners().rules.values():
        if card.module.startswith("noregret.learners."):
            file = Path(card.rule.__code__.co_filename)
            written = patch.decorator_arguments(file.read_text(encoding="utf-8"), card.name).get("counters")
            if written is not None:
                assert patch.counters_in(written, patch.module_of(file)) == dict(card.counters)


def test_scores_count_and_faults_are_told() -> None:
    mutant = Mutant(Path("a.py"), "f", "sign", 1, "was", "now", "")
    found = [verdicts.Verdict(("a",), mutant, killer="t")] * 8 + [verdicts.Verdict(("a",), mutant)] * 3
    found += [verdicts.Verdict(("a",), mutant, reason="it is the same")]
    score = verdicts.scores(found, ["a"])["a"]
    assert (score.mutants, score.killed, score.equivalent, score.survived) == (12, 8, 1, 3)
    told = verdicts.faults({"a": score}, found, {})
    assert [line.split(":")[0] for line in told[:1]] == ["a"]
    assert len(told) == 3  # a below 80 %, all below 95 %, more than 5 % listed
    good = verdicts.Verdict(("b",), mutant, killer="t")
    assert verdicts.faults(verdicts.scores([good], ["b"]), [good], {}) == []
    assert len(verdicts.faults(verdicts.scores([good], ["b"]), [good], {verdicts.key(mutant): "no"})) == 1


def test_a_page_from_kept_results_says_how_many_are_older(tmp_path: Path) -> None:
    subject = subjects.subjects()["perceptron_truncated"]()
    found = [verdicts.Verdict((subject.name,), mutant, killer="t", tests=1) for mutant in subject.mutants]
    kept, scores = tmp_path / "results.json", verdicts.scores(found, [subject.name])
    results.save(found[1:], [subject], kept)
    none, killed = tmp_path / "none.txt", tmp_path / "killers.txt"
    assert results.recall([subject], {}, kept, none) == (found[1:], [subject.mutants[0]])
    record.update([replace(found[0], killer="tests/t")], [subject], killed)
    first = replace(found[0], killer="tests/t")
    assert results.recall([subject], {}, kept, killed) == ([first, *found[1:]], [])
    listed = {verdicts.key(subject.mutants[0]): "it is the same"}
    first = replace(found[0], killer="", tests=0, reason="it is the same")
    assert results.recall([subject], listed, kept, none) == ([first, *found[1:]], [])
    old = [{**one, "whole": False} for one in results.rows(found[:1])]
    kept.write_text(json.dumps([*results.load(kept), *old]), encoding="utf-8")
    assert results.partial_results(found, kept) == found[:1]
    assert "Of 1 killed mutants the result is older" in report.page(found, scores, True, found[:1])
    results.save(found[:1], [subject], kept)
    assert results.partial_results(found, kept) == []
    assert "a survivor with all its tests." in report.page(found, scores, True, [])
    assert "earlier" not in report.page(found, scores)
    text = report.page(found[1:], scores, recalled=True, untried=1)
    assert "Code that is new or has changed has 1 mutants more, which have no result yet and are not counted." in text
    assert "not counted" not in report.page(found, scores, recalled=True)


def test_the_record_keeps_the_killer_of_every_mutant_that_was_killed_last(tmp_path: Path) -> None:
    subject, path = subjects.subjects()["perceptron_truncated"](), tmp_path / "killers.txt"
    first, second, *others = subject.mutants
    record.write({"of a mutant that is no more": "tests/a.py::test_a"}, path)
    found = [verdicts.Verdict((subject.name,), mutant, killer="tests/b.py::test_b[x y]") for mutant in subject.mutants]
    record.update(found, [subject], path)
    assert record.known_killers([subject], path) == {verdicts.key(one): found[0].killer for one in subject.mutants}
    assert len(path.read_text().splitlines()) == 1
    lives, other = verdicts.Verdict((subject.name,), first), verdicts.Verdict((subject.name,), second, killer="tests/c")
    record.update([lives, other], [subject], path)
    killers = record.known_killers([subject], path)
    assert (len(killers), killers[verdicts.key(second)]) == (1 + len(others), "tests/c")


def test_a_run_that_is_stopped_has_stored_all_but_its_last_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "MOST_VERDICTS", 2)
    subject, kept, killers = subjects.subjects()["perceptron_truncated"](), tmp_path / "r.json", tmp_path / "k.txt"
    keeper = results.Keeper([subject], kept, killers)
    found = [verdicts.Verdict((subject.name,), mutant, killer="tests/b") for mutant in subject.mutants[:5]]
    for number, stored in enumerate((0, 2, 2, 4, 4)):
        keeper.add(found[number])
        assert (len(results.load(kept)), len(record.read(killers))) == (stored, stored)
    keeper.store()
    assert (len(results.load(kept)), len(record.read(killers))) == (5, 5)
    monkeypatch.setattr(results, "MOST_SECONDS", -1.0)
    keeper.add(verdicts.Verdict((subject.name,), subject.mutants[5], killer="tests/b"))
    assert len(results.load(kept)) == 6


def test_a_file_of_results_is_never_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.txt"
    record.write({"a": "tests/a"}, path)

    def fail(*_: object, **__: object) -> None:
        path.with_name("k.txt.part").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(KeyboardInterrupt):
        record.write({"b": "tests/b"}, path)
    assert record.read(path) == {"a": "tests/a"}


def test_the_default_suite_contains_every_recorded_killer(request: pytest.FixtureRequest) -> None:
    """Of the files that were collected: all, unless only some were asked for."""
    if request.config.option.keyword or request.config.option.markexpr:
        pytest.skip("only some tests of a file were asked for")
    collected = {item.nodeid for item in request.session.items}
    files = {name.partition("::")[0] for name in collected if not any("::" in asked for asked in request.config.args)}
    killers = set(record.read().values())
    assert [name for name in killers if not (subjects.ROOT / name.partition("::")[0]).is_file()] == []
    assert sorted(name for name in killers - collected if name.partition("::")[0] in files) == []


SAMPLE = """
import json, random
from dataclasses import replace
from verification.mutants import run
from verification.mutants.run import Run
from verification.mutants.subjects import subjects
from verification.mutants.verdicts import key

run.PIECES = 1  # few processes: each costs more than the tests that it runs

def some(subject):
    chosen = random.Random(subject.name).sample(subject.mutants, 2)
    unbroken = chosen[0].file.read_text(encoding="utf-8")
    return [*chosen, replace(chosen[0], kind="none", source=unbroken)]

chosen = [subjects()[name]() for name in NAMES]
killers = {}
for _ in range(2):
    done = Run(chosen, chosen, {}, 2, choose=some, only=FILES, killers=killers)()
    found = [[one.subjects[0], one.mutant.kind, one.tests, one.killer, str(one.mutant)] for one in done.verdicts]
    print(json.dumps(found))
    killers = {key(one.mutant): one.killer for one in done.verdicts if one.killer}
"""
FILES = ["tests/rules/test_losses.py", "tests/metrics/test_metrics.py"]
NAMES = ["losses", "baselines"]


@only_in_test_all
@pytest.mark.slow
def test_a_seeded_sample_is_noticed_and_what_is_not_broken_is_left_in_peace() -> None:
    program = SAMPLE.replace("FILES", repr(FILES)).replace("NAMES", repr(NAMES))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=subjects.ROOT, check=True
    )
    found, again = map(json.loads, done.stdout.splitlines()[-2:])
    assert len(found) == 3 * len(NAMES)
    assert [one for one in found if one[1] == "none" and one[3]] == []
    killed = [one for one in found if one[3]]
    assert len({one[0] for one in killed}) == len(NAMES), found
    # A second time what killed a mutant is tried first; what is not broken passes it, and then meets all the others.
    assert sorted([*one[:2], *one[3:]] for one in again) == sorted([*one[:2], *one[3:]] for one in found)
    assert all(one[2] == 1 for one in again if one[3].startswith("tests/"))
    assert sorted(one for one in again if not one[3]) == sorted(one for one in found if not one[3])


def test_every_learner_is_a_subject() -> None:
    built_in = {card.name for card in nr.learners() if card.module.startswith("noregret.learners.")}
    assert built_in <= set(subjects.subjects())


def test_a_method_may_lose_its_only_call_of_super() -> None:
    """The code that is left has no free variable, but the function has one."""
    from noregret.decomposition import density_learner

    file, owner = Path(str(density_learner.__file__)), "DensityLearner.column_titles"
    left = next(one for one in mutants(file) if one.owner == owner and "super" in one.was and "super" not in one.now)
    function = patch.running_function(density_learner, owner)
    before = function.__code__
    try:
        patch.install(left)
        assert function.__code__.co_freevars == before.co_freevars
        assert function(None, 7) == ["log-density", "distance"]
    finally:
        function.__code__ = before
