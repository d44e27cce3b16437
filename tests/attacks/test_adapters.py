"""Adapters under interrupts: an adapter and the learner inside it change together, or not at all."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.attacks.cut_off import NEW, ROWS, WIDE, Y, cut_at_lines, outcome
from tests.support.cover import ALL

STEP = 7 if ALL else 251


def by_class(x: Any, label: Any) -> dict[str, float]:
    return {f"{name}:{label}": value for name, value in x.items()}


def delayed(inner: Any = None) -> Any:
    learner = nr.delayed(inner or nr.make("arow", native=False).learn(ROWS, Y), room=1)
    learner.ask("first", ROWS[0])
    return learner


def transfer() -> Any:
    source = nr.make("arow", native=False).learn(ROWS, Y)
    return nr.transfer(source, nr.make("pa1", native=False)).learn(ROWS[:3], Y[:3])


def self_training() -> Any:
    return nr.self_training(nr.make("arow", native=False), confidence=0.0).learn(ROWS[:5], Y[:5])


def joint(**options: Any) -> Any:
    return nr.Joint(nr.make("pa1", C=1.0, native=False), by_class, [0, 1, 2], **options).learn(ROWS[:3], [0, 1, 2])


class ByClass(nr.EnumeratingDecoder):
    """Classes as outputs."""

    def outputs(self, x: Any) -> list[int]:
        return [0, 1, 2]

    def features(self, x: Any, y: Any) -> dict[str, float]:
        return by_class(x, y)


def structured(**options: Any) -> Any:
    inner = nr.make("pa1", C=1.0, native=False)
    return nr.make("structured", decoder=ByClass(), learner=inner, **options).learn(ROWS[:3], [0, 1, 2])


JOINT: dict[str, Callable[[Any], object]] = {
    "learn_one": lambda m: m.learn_one(NEW, 2),
    "play": lambda m: m.play(ROWS[3:6], [2, 0, 1], [1.0, 2.0, 0.5]),
    "refused": lambda m: m.play([ROWS[3], {"a": float("nan")}], [2, 1]),
    "scores": lambda m: m.scores([WIDE, NEW]),
    "copy": lambda m: m.copy(),
}


def auto(native: bool = False) -> Any:
    return nr.make("auto", pool=["pa1", "arow"], native=native).learn(ROWS, Y)


MAKERS: dict[str, tuple[Callable[[], Any], dict[str, Callable[[Any], object]]]] = {
    "delayed": (
        delayed,
        {
            "ask": lambda m: m.ask("second", ROWS[1]),
            "forget": lambda m: m.forget("first"),
            "tell": lambda m: m.tell("first", 1),
            "learn_one": lambda m: m.learn_one(ROWS[2], 1),
            "play": lambda m: m.play(ROWS, Y),
        },
    ),
    "auto": (
        auto,
        {
            "play": lambda m: m.play(ROWS, Y),
            "learn_one": lambda m: m.learn_one(NEW, 1),
            "refused": lambda m: m.play([ROWS[3], {"a": float("nan")}], [1, 0]),
            "predict_proba": lambda m: m.predict_proba(ROWS),
        },
    ),
    "majority": (
        lambda: nr.make("majority").learn(ROWS, Y),
        {
            "play": lambda m: m.play(ROWS, Y),
            "learn_one": lambda m: m.learn_one(NEW, "c"),
            "refused": lambda m: m.learn(ROWS[:2], [1, None]),
        },
    ),
    "auto, compiled": (lambda: auto(True), {"learn_one": lambda m: m.learn_one(ROWS[2], 1)}),
    "transfer": (transfer, {"play": lambda m: m.play(ROWS, Y)}),
    "self_training": (
        self_training,
        {
            "labelled": lambda m: m.play(ROWS, Y),
            "unlabelled": lambda m: m.play(ROWS[:1], [None]),
            "both": lambda m: m.play(ROWS, [1, None, 0, None, None, 1, None, 0]),
        },
    ),
    "joint": (joint, JOINT),
    "joint, all": (lambda: joint(competitor="all"), JOINT),
    "structured": (structured, {name: act for name, act in JOINT.items() if name != "scores"}),
    "structured, all": (lambda: structured(competitor="all"), {"play": JOINT["play"]}),
    "delayed joint": (
        lambda: delayed(joint()),
        {"ask": lambda m: m.ask("second", ROWS[1]), "tell": lambda m: m.tell("first", 2)},
    ),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize(("kind", "act"), [(kind, act) for kind, (_, acts) in MAKERS.items() for act in acts])
def test_cut_off_at_a_line_an_adapter_is_as_before_or_as_after(kind: str, act: str) -> None:
    make, does = MAKERS[kind][0], MAKERS[kind][1][act]
    allowed = outcome(make, does)
    for learner in cut_at_lines(make, does, 1 + random.Random(f"{kind} {act}").randrange(40), STEP):
        learner.learn_one(ROWS[0], 1)  # which undoes, or completes, what was cut off
        expected = []
        for content in allowed:
            again = unpack(content, "the file", features={"by_class": by_class, "ByClass": ByClass()})
            expected.append(bytes(pack(again.learn_one(ROWS[0], 1))))
        assert bytes(pack(learner)) in expected
