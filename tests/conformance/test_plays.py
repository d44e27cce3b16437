"""What is tried of all that can be played: few plays, but nothing that could make a difference is left out."""

from tests.conformance.plays import Play, plays
from tests.support.cover import PARTS, one_part

FEW_PLAYS, ALL_PLAYS = plays(every=False), plays(every=True)


def test_every_rule_is_tried_in_every_task_and_algebra_that_it_can_play() -> None:
    few, every = ({(play.name, play.task, play.algebra) for play in those} for those in (FEW_PLAYS, ALL_PLAYS))
    assert sorted(every - few) == []


def test_every_option_of_a_rule_is_tried() -> None:
    few, every = (
        {(play.name, *option) for play in those for option in play.options} for those in (FEW_PLAYS, ALL_PLAYS)
    )
    assert sorted(every - few) == []


def test_a_rule_is_tried_with_every_kernel_in_every_task() -> None:
    def with_kernels(those: list[Play]) -> set[tuple[str, str, str]]:
        return {(play.name, play.task, dict(play.options)["kernel"]) for play in those if play.algebra == "kernel"}

    assert sorted(with_kernels(ALL_PLAYS) - with_kernels(FEW_PLAYS)) == []


def test_no_play_is_tried_twice() -> None:
    assert len(set(FEW_PLAYS)) == len(FEW_PLAYS)
    assert len(set(ALL_PLAYS)) == len(ALL_PLAYS)
    assert set(FEW_PLAYS) <= set(ALL_PLAYS)


def test_the_parts_of_test_all_have_every_combination_once_and_some_of_each_rule() -> None:
    numbers = list(range(1000))
    parts = [one_part(numbers, lambda number: number // 100, part) for part in range(PARTS)]
    assert sorted(number for part in parts for number in part) == numbers
    assert all({number // 100 for number in part} == set(range(10)) for part in parts)
    assert parts[0] != numbers[::PARTS]
