"""What is tried of all that can be played: few plays, but nothing that could make a difference is left out."""

from collections.abc import Callable, Hashable, Iterable

from tests.conformance.plays import Play, plays
from tests.support.cover import PARTS, one_part


def left_out(traits: Callable[[Play], Iterable[Hashable]]) -> list[str]:
    """What every combination together has and the few plays have not."""
    few, every = ({trait for play in plays(every=one) for trait in traits(play)} for one in (False, True))
    return sorted(map(str, every - few))


def test_every_rule_is_tried_in_every_task_and_algebra_that_it_can_play() -> None:
    assert left_out(lambda play: [(play.name, play.task, play.algebra)]) == []


def test_every_option_of_a_rule_is_tried() -> None:
    assert left_out(lambda play: [(play.name, *option) for option in play.options]) == []


def test_a_rule_is_tried_with_every_kernel_in_every_task() -> None:
    assert left_out(lambda play: [(play.name, play.task, one) for what, one in play.options if what == "kernel"]) == []


def test_no_play_is_tried_twice() -> None:
    few, every = plays(every=False), plays(every=True)
    assert len(set(few)) == len(few)
    assert len(set(every)) == len(every)
    assert set(few) <= set(every)


def test_the_parts_of_test_all_have_every_combination_once_and_some_of_each_rule() -> None:
    numbers = list(range(1000))
    parts = [one_part(numbers, lambda number: number // 100, part) for part in range(PARTS)]
    assert sorted(number for part in parts for number in part) == numbers
    assert all({number // 100 for number in part} == set(range(10)) for part in parts)
    assert parts[0] != numbers[::PARTS]
