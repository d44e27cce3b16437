"""`noregret tag`: trains, measures, writes tags, saves, resumes; bad files are refused with their line."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import noregret as nr
from tests.structured.sentences import tagged_sentences
from tests.support.command_line import noregret

SENTENCES, TAGS = tagged_sentences(80)


def conllu(sentences: list[list[str]], tags: list[list[str]]) -> str:
    lines = []
    for words, row in zip(sentences, tags, strict=True):
        lines += ["# text = " + " ".join(words)]
        for at, (word, tag) in enumerate(zip(words, row, strict=True), 1):
            lines.append("\t".join([str(at), word, "_", tag, "_", "_", "0", "_", "_", "_"]))
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.conllu").write_text(conllu(SENTENCES[:60], TAGS[:60]))
    (tmp_path / "test.conllu").write_text(conllu(SENTENCES[60:], TAGS[60:]))
    return tmp_path


def test_a_tagger_is_trained_measured_and_saved(folder: Path) -> None:
    done = noregret("tag", "train.conllu", "test.conllu", "--save", "m.nr", "--json", "r.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "tokens right" in done.stdout
    assert "most confused" in done.stdout or "100.00 %" in done.stdout
    report = json.loads((folder / "r.json").read_text())
    test = report["tests"]["test.conllu"]
    learner = nr.load(folder / "m.nr")
    found = learner.predict(SENTENCES[60:])
    right = sum(a == b for tags, truth in zip(found, TAGS[60:], strict=True) for a, b in zip(tags, truth, strict=True))
    assert test["accuracy"] == right / test["tokens"] > 0.8
    assert len(report["passes"]) == 5
    assert report["passes"][0]["error"] > report["passes"][-1]["error"]
    assert learner.rounds == 5 * 60
    assert sum(one["tokens"] for one in test["tags"]) == test["tokens"] == sum(map(len, TAGS[60:]))


def test_a_crf_is_measured_by_its_tags_not_by_its_likelihood(folder: Path) -> None:
    done = noregret("tag", "train.conllu", "test.conllu", "--learner", "crf", "--passes", "1", "--save", "m.nr",
                    "--json", "r.json", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "r.json").read_text())
    found = nr.make("crf").play(SENTENCES[:60], TAGS[:60]).predictions
    wrong = sum(a != b for one, truth in zip(found, TAGS[:60], strict=True) for a, b in zip(one, truth, strict=True))
    assert report["passes"][0]["error"] == wrong / sum(map(len, TAGS[:60]))
    assert nr.load(folder / "m.nr").card.name == "crf"


def test_new_text_is_tagged_and_written(folder: Path) -> None:
    assert noregret("tag", "train.conllu", "--save", "m.nr", "--quiet", cwd=folder).returncode == 0
    (folder / "new.txt").write_text("the dog runs .\n\na Cat sees this fish !\n")
    done = noregret("tag", "m.nr", "new.txt", "--out", "-", cwd=folder)
    assert done.stdout.splitlines()[0] == "the/D dog/N runs/V ./P"
    assert len(done.stdout.splitlines()) == 2
    done = noregret("tag", "m.nr", "test.conllu", "--out", "tagged.conllu", cwd=folder)
    assert done.returncode == 0
    lines = (folder / "tagged.conllu").read_text().splitlines()
    before = (folder / "test.conllu").read_text().splitlines()
    assert [line.split("\t")[1] for line in lines if "\t" in line] == [
        line.split("\t")[1] for line in before if "\t" in line
    ]
    found = nr.load(folder / "m.nr").predict(SENTENCES[60:])
    assert [line.split("\t")[3] for line in lines if "\t" in line] == [tag for tags in found for tag in tags]


def test_tables_of_tokens(folder: Path) -> None:
    text = "\n".join(
        "\n".join(f"x\t{tag}\t{word}" for word, tag in zip(words, tags, strict=True)) + "\n"
        for words, tags in zip(SENTENCES, TAGS, strict=True)
    )
    (folder / "all.tsv").write_text(text)
    done = noregret("tag", "all.tsv", "all.tsv", "--columns", "3,2", "--passes", "2", "--out", "o.tsv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "o.tsv").read_text().splitlines()[0].split("\t")[2] == SENTENCES[0][0]


def test_resumed_equals_uninterrupted(folder: Path) -> None:
    """A model that stopped after some passes goes on with the rest of them, bit for bit."""
    whole = noregret("tag", "train.conllu", "--passes", "3", "--save", "whole.nr", "--quiet", cwd=folder)
    assert whole.returncode == 0
    part = noregret("tag", "train.conllu", "--passes", "1", "--save", "part.nr", "--quiet", cwd=folder)
    assert part.returncode == 0
    stopped = nr.load(folder / "part.nr")
    stopped.source = {**stopped.source, "ended": False}  # as an interrupt leaves it
    stopped.save(folder / "part.nr")
    rest = ("--passes", "3", "--resume", "part.nr", "--save", "part.nr", "--quiet")
    assert noregret("tag", "train.conllu", *rest, cwd=folder).returncode == 0
    assert (folder / "part.nr").read_bytes() == (folder / "whole.nr").read_bytes()


@pytest.mark.slow
def test_an_interrupted_run_saves_and_goes_on(folder: Path) -> None:
    """A real process that gets SIGTERM in the middle of its passes."""
    many = tagged_sentences(3000, seed=5)
    (folder / "train.conllu").write_text(conllu(*many))
    words = ["tag", "train.conllu", "--passes", "1000", "--save", "m.nr"]
    code = "import sys; from noregret.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *words]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ}) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.lstrip().startswith("2 "):
                process.send_signal(signal.SIGTERM)
                break
        process.stderr.read()
    assert process.returncode == 128 + signal.SIGTERM
    stopped = nr.load(folder / "m.nr")
    assert stopped.source["ended"] is False
    place = stopped.source["pass"] * 3000 + stopped.source["sentence"]
    assert stopped.rounds == place > 3000


@pytest.mark.parametrize("option", [("--learner", "pa1"), ("--order", "2"), ("--save", "x.nr"), ("--average",)])
def test_options_without_effect_are_refused(folder: Path, option: tuple[str, ...]) -> None:
    assert noregret("tag", "train.conllu", "--passes", "1", "--save", "m.nr", "--quiet", cwd=folder).returncode == 0
    done = noregret("tag", "m.nr", "test.conllu", *option, cwd=folder)
    assert done.returncode == 2
    assert f"leave {option[0]} out" in done.stderr
    if option[0] != "--save":
        done = noregret("tag", "train.conllu", "--resume", "m.nr", *option, cwd=folder)
        assert (done.returncode, f"leave {option[0]} out" in done.stderr) == (2, True)


def test_compressed_text_is_tagged(folder: Path) -> None:
    assert noregret("tag", "train.conllu", "--passes", "1", "--save", "m.nr", "--quiet", cwd=folder).returncode == 0
    (folder / "new.txt.gz").write_bytes(gzip.compress(b"the dog runs .\n"))
    assert len(noregret("tag", "m.nr", "new.txt.gz", "--out", "-", cwd=folder).stdout.split()) == 4
    (folder / "bad.txt").write_bytes(b"fine\n\xff\n")
    assert "bad.txt:2" in noregret("tag", "m.nr", "bad.txt", cwd=folder).stderr


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        ("", (), "train.conllu: is empty"),
        ("1\ta\n", (), "train.conllu:1"),
        ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", (), "has no tags"),
        (None, (), "nothing.conllu"),
        ("x", ("--columns", "a,b"), "--columns"),
        ("x", ("--learner", "mira"), "mira"),
        ("x", ("--learner", "arrow"), "arow"),
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
    if content == "":
        (folder / "train.conllu").write_text("")
    done = noregret("tag", "nothing.conllu" if content is None else "train.conllu", *words, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 4
