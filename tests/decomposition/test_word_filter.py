"""Words that are left out: by a list, because they are rare, because they are frequent."""

import json
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition.word_filter import ENGLISH, WordFilter


def passed(one: WordFilter, documents: list[str]) -> list[list[str]]:
    """The words of each document that are left, where each is seen before it is filtered."""
    found = []
    for text in documents:
        words = dict.fromkeys(text.split(), 1)
        one.see(words, {})
        found.append(sorted(one.apply(words)))
    return found


def test_a_word_is_learned_from_its_nth_document_on() -> None:
    assert passed(WordFilter("none", 2, 1.0), ["a b", "b c", "c b b", "a"]) == [[], ["b"], ["b", "c"], ["a"]]
    assert passed(WordFilter("none", 1, 1.0), ["a b", "a"]) == [["a", "b"], ["a"]]


def test_a_word_of_too_many_documents_is_left_out_from_document_20_on() -> None:
    found = passed(WordFilter("none", 1, 0.5), [f"all {'half' if number % 2 else 'other'}" for number in range(30)])
    assert all("all" in words for words in found[:19])
    assert all("all" not in words for words in found[19:])
    assert found[21] == ["half"]  # 11 of 22 documents: not more than half
    assert found[20] == []  # 11 of 21
    assert passed(WordFilter("none", 1, 1.0), ["all"] * 30)[-1] == ["all"]


def test_stop_words_are_function_words() -> None:
    assert {"the", "and", "would", "himself"} <= ENGLISH
    assert not {"market", "cat", "president"} & ENGLISH
    assert passed(WordFilter("english", 1, 1.0), ["the cat and you", "the"]) == [["cat"], []]
    assert WordFilter("english", 1, 1.0).active
    assert not WordFilter("none", 1, 1.0).active
    assert not WordFilter("english", 1, 1.0).counting
    assert WordFilter("none", 2, 1.0).active
    assert WordFilter("none", 1, 0.9).active


def test_what_is_no_count_is_never_left_out() -> None:
    one = WordFilter("english", 2, 1.0)
    for count in (-1, 0.5, float("nan"), "x"):
        assert one.apply({"the": count, "rare": count}) == {"the": count, "rare": count}
    assert one.apply({"the": 1, "rare": 2.0}) == {}


def test_a_failed_call_is_forgotten() -> None:
    one = WordFilter("none", 2, 0.5)
    one.see({"a": 1}, {})
    journal, undo = one.savepoint()
    one.see({"a": 1, "b": 2}, journal)
    one.see({"b": 1, "c": 1}, journal)
    undo()
    undo()
    assert one.documents == 1
    assert one.counts == {"a": 1}


OPTIONS: dict[str, Any] = {"k": 2, "batch": 3, "native": False, "stop_words": "english", "least_documents": 2,
                           "most_share": 0.6}  # fmt: skip
TEXTS = ["the cat sat", "a cat and a dog", "stocks fell", "the dog sat", "stocks rose", "cat dog stocks"] * 5


def test_learners_with_a_filter_do_not_depend_on_chunks_and_go_on_from_files(tmp_path: Any) -> None:
    whole: Any = nr.make("lda", **OPTIONS).learn(TEXTS)
    parts: Any = nr.make("lda", **OPTIONS)
    for start in range(0, 30, 7):
        parts.learn(TEXTS[start : start + 7])
        parts.save(tmp_path / "model.nr")
        parts = nr.load(tmp_path / "model.nr")
    assert parts.topics(5) == whole.topics(5)
    assert parts.filter.counts == whole.filter.counts
    assert "the" not in whole.feature_names
    before = dict(whole.filter.counts)
    with pytest.raises(nr.BadValue):
        whole.learn(["new words here", {"cat": -2}])
    assert whole.filter.counts == before
    whole.transform(["unseen words", "cat"])
    assert whole.filter.counts == before


def test_damaged_counts_are_refused() -> None:
    learner: Any = nr.make("lda", **OPTIONS).learn(TEXTS)
    header, arrays = learner.dump()
    for name, wrong in (
        ("filter.words", np.frombuffer(b"[1, 2]", np.uint8)),
        ("filter.words", np.frombuffer(b"{", np.uint8)),
        ("filter.documents", arrays["filter.documents"][:-1]),
        ("filter.documents", -arrays["filter.documents"]),
        ("filter.documents", arrays["filter.documents"].astype(np.float64)),
    ):
        with pytest.raises(nr.Error):
            type(learner).restore(header, {**arrays, name: wrong}, lambda card: card)
    missing = {name: array for name, array in arrays.items() if name != "filter.words"}
    with pytest.raises(nr.Error):
        type(learner).restore(header, missing, lambda card: card)


def test_words_without_a_count_are_left_out_and_counts_of_zero_are_counts() -> None:
    for one in (WordFilter("english", 1, 1.0), WordFilter("english", 2, 1.0)):
        assert one.apply({"the": -1}) == {"the": -1}
        assert one.apply({"the": 0}) == {}
    assert WordFilter("none", 1, 0.9).apply({"new": 1}) == {}


def saved(words: Any, *counts: int) -> dict[str, Any]:
    text = json.dumps(words).encode()
    return {"filter.words": np.frombuffer(text, np.uint8), "filter.documents": np.array(counts, np.int64)}


def test_what_was_counted_is_saved_and_checked() -> None:
    one = WordFilter("none", 2, 1.0)
    assert one.dump() == {}
    one.restore({}, 5)
    assert (one.documents, one.counts) == (0, {})
    one.restore(saved(["a", "b"], 3, 3, 1), 5)
    assert (one.documents, one.counts) == (3, {"a": 3, "b": 1})
    wrong = [saved(["a", "b"], 3, 0, 1), saved(["a", "b"], 3, 4, 1), saved(["a"], 6, 1), saved([1], 3, 1),
             saved({"a": 1}, 3, 1), saved(["a", "a", "b"], 3, 1, 1), saved(["a"], 3, 1, 1)]  # fmt: skip
    whole = saved(["a"], 3, 1)
    wrong += [{name: whole[name]} for name in whole]
    for arrays in wrong:
        with pytest.raises(nr.Error, match="the words it counted do not fit together"):
            WordFilter("none", 2, 1.0).restore(arrays, 5)
    with pytest.raises(nr.Error, match="the words it counted"):
        WordFilter("english", 1, 1.0).restore(whole, 5)
