"""`noregret parse`: trains, measures, writes trees, saves, resumes; bad treebanks are refused with their line."""

import json
from pathlib import Path

import pytest

import noregret as nr
from noregret.data.sentences import Sentence
from noregret.streams.conllu import read_sentences
from noregret.streams.conllu_output import write_conllu
from tests.structured.treebank import Tokens, Tree, treebank
from tests.support.command_line import noregret

SENTENCES, TREES = treebank(80)
SMALL = ("--bits", "14")


def conllu(sentences: list[Tokens], trees: list[Tree]) -> str:
    return "".join(
        write_conllu(
            Sentence(
                words=tuple(word for word, _ in words),
                upos=tuple(tag for _, tag in words),
                heads=tuple(head for head, _ in tree),
                relations=tuple(relation for _, relation in tree),
                id=f"s{number}",
            )
        )
        for number, (words, tree) in enumerate(zip(sentences, trees, strict=True))
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.conllu").write_text(conllu(SENTENCES[:60], TREES[:60]))
    (tmp_path / "test.conllu").write_text(conllu(SENTENCES[60:], TREES[60:]))
    return tmp_path


def test_a_parser_is_trained_measured_and_saved(folder: Path) -> None:
    words = ("parse", "train.conllu", "test.conllu", *SMALL, "--passes", "3", "--save", "m.nr", "--json", "r.json")
    done = noregret(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "unlabelled attachment" in done.stdout
    assert "nsubj" in done.stdout
    report = json.loads((folder / "r.json").read_text())
    test, learner = report["tests"]["test.conllu"], nr.load(folder / "m.nr")
    found = [one for tree in learner.predict(SENTENCES[60:]) for one in tree]
    truth = [one for tree in TREES[60:] for one in tree]
    assert test["words"] == len(truth) == sum(one["words"] for one in test["relations"])
    assert test["unlabelled_attachment"] == pytest.approx(
        sum(a[0] == b[0] for a, b in zip(found, truth, strict=True)) / len(truth)
    )
    labelled = sum(a == b for a, b in zip(found, truth, strict=True)) / len(truth)
    assert test["labelled_attachment"] == pytest.approx(labelled)
    assert labelled > 0.9
    assert len(report["passes"]) == 3
    assert report["passes"][0]["error"] > report["passes"][-1]["error"]
    assert learner.rounds == 3 * 60


def test_new_sentences_are_parsed_and_written(folder: Path) -> None:
    assert noregret("parse", "train.conllu", *SMALL, "--save", "m.nr", "--quiet", cwd=folder).returncode == 0
    bare = [Sentence(tuple(w for w, _ in x), tuple(t for _, t in x), id="new") for x in SENTENCES[60:]]
    (folder / "new.conllu").write_text("".join(map(write_conllu, bare)))
    done = noregret("parse", "m.nr", "new.conllu", "--out", "parsed.conllu", cwd=folder)
    assert done.returncode == 0, done.stderr
    read = list(read_sentences(str(folder / "parsed.conllu")))
    found = nr.load(folder / "m.nr").predict(SENTENCES[60:])
    assert [list(zip(one.heads or (), one.relations or (), strict=True)) for one in read] == found.tolist()
    assert [one.words for one in read] == [one.words for one in bare]
    assert read[0].id == "new"
    piped = noregret("parse", "m.nr", "new.conllu", "--out", "-", cwd=folder)
    assert piped.stdout == (folder / "parsed.conllu").read_text()


def test_resumed_equals_uninterrupted(folder: Path) -> None:
    """A model that stopped after a pass goes on with the rest of them, bit for bit."""
    options = (*SMALL, "--learner", "perceptron", "--average", "--crossing", "--quiet")
    assert noregret("parse", "train.conllu", "--passes", "3", "--save", "w.nr", *options, cwd=folder).returncode == 0
    assert noregret("parse", "train.conllu", "--passes", "1", "--save", "p.nr", *options, cwd=folder).returncode == 0
    stopped = nr.load(folder / "p.nr")
    assert not stopped.projective
    stopped.source = {**stopped.source, "ended": False}  # as an interrupt leaves it
    stopped.save(folder / "p.nr")
    rest = ("--passes", "3", "--resume", "p.nr", "--save", "p.nr", "--quiet")
    assert noregret("parse", "train.conllu", *rest, cwd=folder).returncode == 0
    assert (folder / "p.nr").read_bytes() == (folder / "w.nr").read_bytes()


def token(number: int, head: object, tag: str = "N") -> str:
    return f"{number}\ta\t_\t{tag}\t_\t_\t{head}\tdep\t_\t_\n"


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        ("", (), "train.conllu: is empty"),
        ("1\ta\n", (), "train.conllu:1: sentence 1"),
        (token(1, 0) + "\n" + token(1, "_"), (), "train.conllu:3: sentence 2: its words have no heads"),
        (token(1, 0, "_"), (), "train.conllu:1: sentence 1: its words have no tags"),
        (token(1, 0) + "\n" + token(1, 3), (), "train.conllu:3: sentence 2: the head of word 1 is 3, outside"),
        (token(1, 0) + "\n" + token(1, 1), (), "train.conllu:3: sentence 2: no word has head 0"),
        (token(1, 0) + token(2, 3) + token(3, 2), (), "train.conllu:1: sentence 1: the heads form a cycle, 2 -> 3"),
        ("# a comment\n\n", (), "train.conllu:1: sentence 1: has no tokens"),
        (None, (), "nothing.conllu"),
        ("x", ("--learner", "mira"), "mira"),
        ("x", ("--bits", "40"), "bits"),
        ("x", ("--passes", "0"), "passes"),
        ("x", ("--out", "o"), "--out"),
        ("x", ("--resume", "train.conllu"), "train.conllu"),
    ],
)
def test_what_cannot_be_learned_is_refused(
    folder: Path, content: str | None, words: tuple[str, ...], message: str
) -> None:
    if content not in (None, "x"):
        (folder / "train.conllu").write_text(content or "")
    done = noregret("parse", "nothing.conllu" if content is None else "train.conllu", *words, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 4


def test_a_model_of_another_kind_is_refused(folder: Path) -> None:
    nr.make("pa1", native=False).learn([{"a": 1.0}], [1]).save(folder / "m.nr")
    done = noregret("parse", "m.nr", "test.conllu", cwd=folder)
    assert done.returncode == 2
    assert "a model of pa1, not of parser" in done.stderr
    assert "give the files to parse" in noregret("parse", save_parser(folder), cwd=folder).stderr


def test_show_names_the_commands_that_read_trees(folder: Path) -> None:
    shown = noregret("show", save_parser(folder), cwd=folder)
    assert "noregret parse p.nr NEW.conllu" in shown.stdout
    assert "noregret predict" not in shown.stdout


def save_parser(folder: Path) -> str:
    parser = nr.make("parser", learner=nr.make("pa1", native=False), bits=12)
    parser.learn(SENTENCES[:3], TREES[:3]).save(folder / "p.nr")
    return "p.nr"
