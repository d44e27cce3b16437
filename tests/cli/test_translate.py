"""`noregret translate`: a text in, translations out; and what is learned of them on the way."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.cli.translate import Translation
from noregret.neural.translation.measures import bleu, ter
from tests.neural.translation.tiny import X, Y, translator
from tests.support.command_line import noregret, refused, succeeded

FEW = 4


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.nr"
    translator(eta=0.1).learn(X * 4, Y * 4).save(path)
    return path


@pytest.fixture
def folder(tmp_path: Path, model: Path) -> Path:
    shutil.copy(model, tmp_path / "m.nr")
    (tmp_path / "x.txt").write_text("".join(f"{line}\n" for line in X[:FEW]))
    (tmp_path / "y.txt").write_text("".join(f"{line}\n" for line in Y[:FEW]))
    return tmp_path


def test_every_line_is_translated_and_empty_lines_stay(folder: Path) -> None:
    expected = nr.load(folder / "m.nr").predict(X[:2]).tolist()
    done = succeeded(noregret("translate", "m.nr", "-", cwd=folder, stdin=f"{X[0]}\n\n {X[1]}"))
    assert done.stdout.split("\n") == [expected[0], "", expected[1], ""]
    succeeded(noregret("translate", "m.nr", "x.txt", "--skip", "2", "--out", "out.txt", cwd=folder))
    assert (folder / "out.txt").read_text().splitlines() == nr.load(folder / "m.nr").predict(X[2:FEW]).tolist()


def test_a_text_is_learned_as_in_the_library(folder: Path) -> None:
    done = noregret("translate", "m.nr", "x.txt", "--adapt", "y.txt", "--update", "adam", "--eta", "0.02", "--out",
                    "out.txt", "--save", "n.nr", "--json", "r.json", cwd=folder)  # fmt: skip
    succeeded(done)
    learner: Any = nr.load(folder / "m.nr").with_options(optimizer="adam", eta=0.02)
    found = learner.play(X[:FEW], Y[:FEW])
    assert (folder / "out.txt").read_text().splitlines() == found.predictions.tolist()
    report = json.loads((folder / "r.json").read_text())
    assert report["bleu"] == bleu(found.predictions.tolist(), Y[:FEW])
    assert report["ter"] == ter(found.predictions.tolist(), Y[:FEW])
    assert report["options"]["optimizer"] == "adam"
    assert report["sentences"] == FEW
    assert f"4 sentences: BLEU {report['bleu']:.1f}" in done.stdout
    learner.save(folder / "expected.nr")
    assert (folder / "n.nr").read_bytes() == (folder / "expected.nr").read_bytes()


def test_the_user_accepts_corrects_and_lets_it_go_on(folder: Path) -> None:
    typed = f"\n{Y[1]}\nein ...\n\nq\n"
    assert nr.load(folder / "m.nr").predict_one(X[0])
    done = noregret("translate", "m.nr", "x.txt", "--validate", "--out", "out.txt", "--save", "n.nr",
                    cwd=folder, stdin=typed)  # fmt: skip
    succeeded(done)
    lines = (folder / "out.txt").read_text().splitlines()
    learner: Any = nr.load(folder / "m.nr")
    expected = [learner.predict_one(X[0]), Y[1]]
    learner.learn(X[:2], expected)
    expected.append(learner.complete(X[2], "ein"))
    assert lines == expected
    assert "3 sentences" in done.stdout
    learner.learn_one(X[2], expected[2])
    assert nr.load(folder / "n.nr").dump()[1]["weights"].tolist() == learner.dump()[1]["weights"].tolist()


def test_what_was_learned_is_saved_when_the_command_is_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translate = Translation.translate

    def stop(self: Translation, at: int, *others: Any) -> str | None:
        if at == 2:
            raise KeyboardInterrupt
        return translate(self, at, *others)

    monkeypatch.setattr(Translation, "translate", stop)
    arguments = ("--adapt", "y.txt", "--save", "n.nr", "--out", "out.txt")
    done = noregret("translate", "m.nr", "x.txt", *arguments, cwd=folder)
    assert done.returncode == 130
    assert "go on with that model and --skip 2" in done.stderr
    assert not (folder / "out.txt").exists()
    monkeypatch.undo()
    succeeded(noregret("translate", "n.nr", "x.txt", "--skip", "2", *arguments, cwd=folder))
    whole: Any = nr.load(folder / "m.nr").learn(X[:FEW], Y[:FEW])
    assert nr.load(folder / "n.nr").dump()[1]["weights"].tolist() == whole.dump()[1]["weights"].tolist()


def test_bad_input_is_named(folder: Path) -> None:
    (folder / "short.txt").write_text(f"{Y[0]}\n")
    (folder / "gap.txt").write_text(f"{Y[0]}\n\n{Y[2]}\n{Y[3]}\n")
    nr.make("pa1", native=False).learn([{"a": 1.0}], [1]).save(folder / "pa1.nr")
    adapt = ("translate", "m.nr", "x.txt", "--adapt")
    refused(noregret(*adapt, "short.txt", cwd=folder), "x.txt has 4 lines and short.txt 1")
    refused(noregret(*adapt, "gap.txt", "--save", "n.nr", cwd=folder), "x.txt:2: the translation is empty")
    refused(noregret("translate", "pa1.nr", "x.txt", cwd=folder), "this is a model of pa1")
    refused(noregret("translate", "m.nr", "x.txt", "--eta", "1", cwd=folder), "--adapt or --validate")
    refused(noregret(*adapt, "y.txt", "--eta", "-1", cwd=folder), "eta must be at least 0")
    refused(noregret(*adapt, "y.txt", "--validate", cwd=folder), "give one of them")
    refused(noregret("translate", "m.nr", "-", "--validate", cwd=folder), "--validate asks on standard input")
    refused(noregret("translate", "m.nr", "x.txt", "--skip", "9", cwd=folder), "lower --skip")
    refused(noregret("translate", "m.nr", "x.txt", "--out", "x.txt", cwd=folder), "would overwrite")
    refused(noregret("translate", "m.nr", "nowhere.txt", cwd=folder), "nowhere.txt")


def test_a_model_says_how_it_is_used(folder: Path) -> None:
    done = succeeded(noregret("show", "m.nr", cwd=folder))
    assert "noregret translate m.nr SENTENCES.txt" in done.stdout
