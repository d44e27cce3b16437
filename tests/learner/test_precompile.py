"""What is compiled ahead of time is the loop that the learner will use: also that of a variant."""

from typing import Any

import pytest

import noregret as nr
from noregret.jit.compiled import fingerprint_plan
from noregret.learner import precompile
from noregret.learner.precompile import Job, make_job


def loops_of(monkeypatch: pytest.MonkeyPatch, *names: str, **options: Any) -> list[tuple[str, dict[str, Any]]]:
    """The loops that `warm` would compile."""
    found: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(precompile, "precompile", lambda loops, processes, progress: found.extend(loops))
    assert nr.warm(names, **options) == len(found)
    return found


def test_a_variant_is_compiled_with_its_kernel_and_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = loops_of(monkeypatch, "pa1@rbf(gamma=0.01, budget=500)", tasks=("binary",), algebras=("sparse", "dense"))
    kernel = {"algebra": "kernel", "kernel": "rbf", "gamma": 0.01, "budget": 500}
    assert loops == [("pa1", {"task": "binary", **kernel})]


def test_a_variant_with_options_is_compiled_for_every_algebra_it_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = loops_of(monkeypatch, "ogd(loss=logistic)", tasks=("binary", "ranking"), algebras=("sparse", "dense"))
    assert [(one["task"], one["algebra"], one["loss"]) for _, one in loops] == [
        (task, algebra, "logistic") for task in ("binary", "ranking") for algebra in ("sparse", "dense")
    ]
    assert loops_of(monkeypatch, "pa1(task=regression)", tasks=("binary",)) == []


def test_learners_that_have_kernels_only_are_compiled_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loops_of(monkeypatch, "projectron", tasks=("binary",)) == [
        ("projectron", {"task": "binary", "algebra": "kernel"})
    ]


@pytest.mark.parametrize("name", ["pa1@rbf(budget=7)", "pa1@rbf(budget=7, policy=random)", "perceptron@polynomial"])
def test_the_job_of_a_variant_is_the_loop_it_plays(name: str) -> None:
    learner = nr.make(name, task="binary")
    job = make_job(learner.config, "binary", "kernel")
    assert job.code == fingerprint_plan(learner.config.plan(learner.config.task, "kernel"))
    again = nr.make(job.name, **job.options)
    assert make_job(again.config, "binary", "kernel") == Job(*job)


def test_a_name_that_there_is_not_is_refused() -> None:
    with pytest.raises(nr.Error, match="no kernel 'rfb'"):
        nr.warm(["pa1@rfb"])
