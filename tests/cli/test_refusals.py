"""Whatever is wrong with what a user gives: a line that says where and what to do, exit code 2, nothing lost."""

import gzip
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from tests.support.command_line import OWN_RULE, SAMPLE, noregret, refused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.svm").write_text(SAMPLE)
    return tmp_path


def write(folder: Path, name: str, content: str | bytes) -> str:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


LIBSVM: dict[str, tuple[str | bytes, str, *tuple[str, ...]]] = {
    "empty": ("", "empty.svm", "empty"),
    "only comments": ("# nothing\n\n", "comments.svm", "no rows"),
    "binary junk": (bytes(range(256)) * 40, "junk.svm", "junk.svm:"),
    "truncated line": ("1 1:0.5\n-1 2:\n", "cut.svm", "cut.svm:2"),
    "no colon": ("1 1:0.5\n-1 2\n", "colon.svm", "colon.svm:2"),
    "index zero": ("1 1:1\n-1 0:1\n", "zero.svm", "zero.svm:2", "--zero-based"),
    "negative index": ("1 1:1\n-1 -3:1\n", "minus.svm", "minus.svm:2"),
    "index over 2^31": ("1 1:1\n1 2:1\n-1 2147483649:1\n", "over.svm", "over.svm:3"),
    "index over 2^64": ("1 1:1\n-1 99999999999999999999999:1\n", "huge.svm", "huge.svm:2"),
    "nan": ("1 1:1\n-1 1:nan\n", "nan.svm", "nan.svm:2"),
    "inf": ("1 1:1\n-1 1:inf\n", "inf.svm", "inf.svm:2"),
    "too large": ("1 1:1\n-1 1:1e400\n", "large.svm", "large.svm:2"),
    "nan label": ("1 1:1\nnan 1:1\n", "label.svm", "label.svm:2"),
    "word for a value": ("1 1:1\n-1 1:abc\n", "word.svm", "word.svm:2"),
    "regression targets": ("1 1:1\n0.5 1:2\n", "targets.svm", "targets.svm:2", "--task regression"),
    "truncated gzip": (gzip.compress(SAMPLE.encode() * 50)[:-20], "cut.svm.gz", "cut.svm.gz"),
}


@pytest.mark.parametrize("case", LIBSVM)
def test_libsvm_text_that_cannot_be_used_is_located(folder: Path, case: str) -> None:
    content, name, *parts = LIBSVM[case]
    write(folder, name, content)
    before = sorted(folder.iterdir())
    done = noregret("learn", name, "--learner", "pa1", "--save", "model.nr", cwd=folder)
    refused(done, *parts)
    assert sorted(folder.iterdir()) == before


CSV: dict[str, tuple[str | bytes, *tuple[str, ...]]] = {
    "ragged, short": ("a,b,y\n1,2,0\n3,4\n", "t.csv:3"),
    "ragged, long": ("a,b,y\n1,2,0\n3,4,1,9\n", "t.csv:3"),
    "nan": ("a,b,y\n1,2,0\n3,nan,1\n", "t.csv:3"),
    "inf": ("a,b,y\n1,2,0\n3,-inf,1\n", "t.csv:3"),
    "no rows": ("a,b,y\n", "no rows"),
    "empty label": ("a,b,y\n1,2,0\n3,4,\n", "t.csv:3"),
    "two columns of one name": ("a,a,y\n1,2,0\n", "'a'"),
    "not utf-8": (b"a,b,y\n1,2,0\n\xff\xfe,4,1\n", "t.csv:3"),
    "regression targets": ("a,b,y\n1,2,0.5\n3,4,1.5\n", "t.csv:2", "--task regression"),
}


@pytest.mark.parametrize("case", CSV)
def test_tables_that_cannot_be_used_are_located(folder: Path, case: str) -> None:
    content, *parts = CSV[case]
    write(folder, "t.csv", content)
    refused(noregret("race", "t.csv", "--learners", "pa1", cwd=folder), *parts)


def test_an_unknown_label_column_is_named_with_those_there_are(folder: Path) -> None:
    write(folder, "t.csv", "height,depth,kind\n1,2,a\n3,4,b\n")
    refused(noregret("race", "t.csv", "--label", "knd", cwd=folder), "'knd'", "'kind'")


def test_bad_rows_are_skipped_and_counted_when_asked(folder: Path) -> None:
    write(folder, "t.svm", SAMPLE + "1 1:nan\n-1 0:1\n" + SAMPLE + "1 1:\n")
    done = noregret("race", "t.svm", "--learners", "pa1", "--on-bad", "skip", "--json", "-", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert '"skipped": 3' in done.stdout
    assert '"rounds": 400' in done.stdout
    assert "3 rows could not be used" in done.stderr


def test_what_is_not_there_or_not_a_file(folder: Path) -> None:
    refused(noregret("race", "absent.svm", cwd=folder), "absent.svm")
    (folder / "sub").mkdir()
    refused(noregret("race", "sub", cwd=folder), "sub")
    refused(noregret("race", "./sub", cwd=folder), "folder")
    refused(noregret("race", "digitz", cwd=folder), "'digits'")
    refused(noregret("predict", "absent.nr", "good.svm", cwd=folder), "absent.nr")


AS_NOBODY = """
import os, sys
import noregret as nr
import noregret.jit.compiler, noregret.cli.race, noregret.streams.libsvm, noregret.jit.cache, noregret.jit.objects
noregret.jit.cache.describe_compiler(), nr.learners()
noregret.jit.cache.cache_folder(), noregret.jit.objects.get_linker()  # another user may not read Python's folders
if os.geteuid() == 0:
    os.seteuid(65534)  # root may read everything
sys.exit(noregret.cli.main(["race", "secret.svm", "--learners", "pa1"]))
"""


@pytest.mark.skipif(os.name == "nt", reason="permissions differ there")
def test_a_file_without_permission() -> None:
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        secret = Path(place) / "secret.svm"
        secret.write_text(SAMPLE)
        secret.chmod(0)
        hidden = Path(place) / "hidden"  # whose cache of compiled loops this is may not be asked either
        hidden.mkdir(mode=0o700)
        words, around = [sys.executable, "-c", AS_NOBODY], {**os.environ, "NOREGRET_CACHE": str(hidden / "cache")}
        done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=60, env=around)
    refused(done, "secret.svm", "ermission")


def test_an_unknown_learner_gets_a_suggestion_whatever_the_file(folder: Path) -> None:
    refused(noregret("race", "absent.svm", "--learners", "pa1,arrow", cwd=folder), "'arrow'", "'arow'")
    refused(noregret("learn", "absent.svm", "--learner", "perceptrn", cwd=folder), "'perceptron'")
    refused(noregret("learners", "wnnow", cwd=folder), "'winnow'")


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("r=0", "r must be above 0"),
        ("r=abc", "r must be a number"),
        ("r=nan", "r must be"),
        ("q=1", "no parameter 'q'"),
        ("r", "NAME=VALUE"),
        ("covariance=round", "covariance must be one of"),
    ],
)
def test_a_parameter_outside_its_limits(folder: Path, setting: str, part: str) -> None:
    refused(noregret("learn", "absent.svm", "--learner", "arow", "--set", setting, cwd=folder), part)


def test_words_the_command_does_not_know(folder: Path) -> None:
    refused(noregret("rase", cwd=folder), "rase", "--help")
    refused(noregret("race", "--fast", cwd=folder), "--fast", "--help")
    refused(noregret("race", "--threads", "0", cwd=folder), "--threads")
    refused(noregret("race", "--seed", "-4", cwd=folder), "--seed")
    refused(noregret("learn", "good.svm", "--learner", cwd=folder), "--learner")
    refused(noregret(cwd=folder), "--help")


def test_a_corrupt_model(folder: Path) -> None:
    learned = noregret("learn", "good.svm", "--learner", "pa1", "--save", "m.nr", cwd=folder)
    assert learned.returncode == 0, learned.stderr
    whole = (folder / "m.nr").read_bytes()
    for name, content in {
        "cut.nr": whole[:-9],
        "bent.nr": whole[:-9] + b"\x7f" + whole[-8:],
        "text.nr": b"hello",
    }.items():
        write(folder, name, content)
        refused(noregret("predict", name, "good.svm", cwd=folder), name)
        refused(noregret("learn", "good.svm", "--resume", name, cwd=folder), name)
        assert (folder / name).read_bytes() == content
    write(folder, "empty.nr", b"")
    refused(noregret("predict", "empty.nr", "good.svm", cwd=folder), "empty.nr")


def test_a_place_that_cannot_be_written_is_refused_before_any_work(folder: Path) -> None:
    refused(noregret("learn", "good.svm", "--learner", "pa1", "--save", "no/where.nr", cwd=folder), "no folder")
    refused(noregret("learn", "good.svm", "--learner", "pa1", "--save", ".", cwd=folder), "folder")
    refused(noregret("race", "good.svm", "--json", "no/where.json", cwd=folder), "no folder")


def test_nothing_that_is_still_needed_is_overwritten(folder: Path) -> None:
    refused(noregret("learn", "good.svm", "--learner", "pa1", "--save", "./good.svm", cwd=folder), "overwrite")
    refused(noregret("race", "good.svm", "--json", "good.svm", cwd=folder), "overwrite")
    assert (folder / "good.svm").read_text() == SAMPLE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_told(folder: Path) -> None:
    refused(noregret("learn", "good.svm", "--learner", "pa1", "--save", "/dev/full", cwd=folder), "/dev/full", "space")
    refused(noregret("race", "good.svm", "--learners", "pa1", "--json", "/dev/full", cwd=folder), "space")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "noregret", "learners"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    refused(subprocess.CompletedProcess([], done.returncode, "", done.stderr), "standard output")


def test_a_disk_that_fills_while_saving_leaves_the_old_model(folder: Path) -> None:
    wide = "".join(f"{1 if k % 2 else -1} {k + 1}:1 5000:1\n" for k in range(4000))
    write(folder, "wide.svm", wide)
    noregret("learn", "good.svm", "--learner", "pa1", "--save", "m.nr", cwd=folder)
    before = (folder / "m.nr").read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "noregret", "learn", "wide.svm", "--learner", "pa1", "--save", "m.nr"],
        cwd=folder, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
    )  # fmt: skip
    refused(done, "m.nr")
    assert (folder / "m.nr").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["good.svm", "m.nr", "wide.svm"]


def test_a_closed_pipe_ends_in_silence(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "noregret", "learners"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), said) == (141, "")


def test_rows_and_labels_of_different_length_in_the_library() -> None:
    program = "import noregret as nr; nr.race(([[1.0], [2.0]], [1]), ['pa1'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "BadValue: X has 2 rows and y has 1 labels" in done.stderr


def test_one_class_only_is_a_warning_at_the_end(folder: Path) -> None:
    write(folder, "same.svm", "1 1:1\n1 2:1\n")
    for words in (["race", "same.svm", "--learners", "pa1"], ["learn", "same.svm", "--learner", "pa1"]):
        done = noregret(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "every label is 1" in done.stderr.splitlines()[-1]


def test_a_rule_file_that_cannot_be_used(folder: Path) -> None:
    write(folder, "broken.py", "import noregret\n\nthis is not python\n")
    write(folder, "raises.py", "x = 1\nraise KeyError('oh')\n")
    write(folder, "empty.py", "x = 1\n")
    refused(noregret("race", "good.svm", "--learners", "./broken.py:mine", cwd=folder), "broken.py:3")
    refused(noregret("race", "good.svm", "--learners", "raises.py:mine", cwd=folder), "raises.py:2", "KeyError")
    refused(noregret("race", "good.svm", "--learners", "empty.py:mine", cwd=folder), "empty.py", "'mine'")
    refused(noregret("race", "good.svm", "--learners", "absent.py:mine", cwd=folder), "absent.py")


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "good.svm", "--learner", "pa1", "--save", "m.nr", "--json", "m.nr"],
        ["learn", "good.svm", "--learner", "my_rule.py:capped", "--save", "my_rule.py"],
        ["race", "good.svm", "--learners", "my_rule.py:capped", "--json", "./my_rule.py"],
        ["predict", "kept.nr", "good.svm", "--out", "o.csv", "--json", "o.csv"],
        ["predict", "kept.nr", "good.svm", "--out", "kept.nr"],
        ["learn", "good.svm", "--resume", "kept.nr", "--json", "kept.nr"],
    ],
)
def test_no_output_goes_where_something_else_is(folder: Path, words: list[str]) -> None:
    write(folder, "my_rule.py", OWN_RULE)
    nr.make("pa1").learn([[1.0]], [1]).save(folder / "kept.nr")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(noregret(*words, cwd=folder), "overwrite")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_model_goes_on_only_as_it_was_made(folder: Path) -> None:
    write(folder, "t.csv", "a,b,y\n" + "".join(f"{k % 3},{k % 2},{k % 2}\n" for k in range(30)))
    noregret("learn", "t.csv", "--learner", "pa1", "--save", "t.nr", cwd=folder)
    noregret("learn", "good.svm", "--learner", "pa1", "--save", "m.nr", cwd=folder)
    for words, part in (
        (["good.svm", "--resume", "m.nr", "--zero-based"], "count from 1"),
        (["good.svm", "--resume", "m.nr", "--learner", "arow"], "learned by pa1, not by arow"),
        (["good.svm", "--resume", "m.nr", "--set", "C=2"], "--set is for a new model"),
        (["t.csv", "--resume", "t.nr", "--label", "b"], "label 'y', not with the label 'b'"),
        (["good.svm", "--resume", "t.nr"], "by name"),
    ):
        before = [(folder / name).read_bytes() for name in ("m.nr", "t.nr")]
        refused(noregret("learn", *words, cwd=folder), part)
        assert [(folder / name).read_bytes() for name in ("m.nr", "t.nr")] == before


def test_a_table_without_the_columns_of_the_model(folder: Path) -> None:
    write(folder, "t.csv", "a,b,y\n" + "".join(f"{k % 3},{k % 2},{k % 2}\n" for k in range(30)))
    noregret("learn", "t.csv", "--learner", "pa1", "--save", "t.nr", cwd=folder)
    write(folder, "other.csv", "c,d\n1,2\n")
    refused(noregret("predict", "t.nr", "other.csv", "--out", "o.csv", cwd=folder), "none of the columns", "'a', 'b'")
    assert not (folder / "o.csv").exists()
    write(folder, "less.csv", "b,y\n1,0\n")
    done = noregret("predict", "t.nr", "less.csv", cwd=folder)
    assert done.returncode == 0
    assert "lacks columns of the model: 'a'" in done.stderr
    write(folder, "words.csv", "a,b\nlow,1\nhigh,2\n")
    refused(noregret("predict", "t.nr", "words.csv", cwd=folder), "words.csv:2: column 'a': 'low'", "numbers")


def test_one_column_is_no_table(folder: Path) -> None:
    write(folder, "t.csv", "a b label\n1 2 x\n2 1 y\n")
    refused(noregret("race", "t.csv", cwd=folder), "t.csv", "only one column")


@pytest.mark.skipif(os.name == "nt", reason="no such redirection there")
def test_closed_streams(folder: Path) -> None:
    command = f"{sys.executable} -m noregret"
    learn = f"{command} learn good.svm --learner pa1 --save m.nr >&- 2>&- <&-"
    assert subprocess.run(learn, shell=True, cwd=folder).returncode == 0
    assert nr.load(folder / "m.nr").rounds == 200
    done = subprocess.run(
        f"{command} predict m.nr good.svm >&-", shell=True, cwd=folder, stderr=subprocess.PIPE, text=True
    )
    refused(subprocess.CompletedProcess([], done.returncode, "", done.stderr), "standard output is closed")
    assert (
        subprocess.run(f"{command} race good.svm --learners pa1 2>&-", shell=True, cwd=folder, stdout=-3).returncode
        == 0
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_read_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    process = subprocess.Popen(
        [sys.executable, "-m", "noregret", "learn", "pipe", "--learner", "pa1"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    (folder / "pipe").write_text(SAMPLE)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "in 200 rounds" in out


def test_a_learner_that_diverges_leaves_the_race_to_the_others(folder: Path) -> None:
    write(folder, "far.svm", "".join(f"{1 if k % 2 else -1} 1:{(-1) ** k * 3e8} 2:{k}e7\n" for k in range(40)))
    far = ("--set", "ogd.eta0=1e300")
    done = noregret("race", "far.svm", "--learners", "pa1,ogd", *far, "--json", "out.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert "ogd(eta0=1e300) (stopped after 0 rounds)" in lines  # no results
    assert "ogd(eta0=1e300) could not go on" in done.stderr
    refused(noregret("race", "far.svm", "--learners", "ogd", *far, cwd=folder), "no longer finite")


def test_what_is_odd_is_said(folder: Path) -> None:
    write(folder, "small.csv", "a,y\n" + "".join(f"{k},{k / 1e6}\n" for k in range(50)))
    told = ("race", "small.csv", "--task", "regression", "--learners", "pa1")
    assert "within eps = 0.1" in noregret(*told, "--set", "scale_target=no", cwd=folder).stderr
    assert "within eps" not in noregret(*told, cwd=folder).stderr  # smallness is no matter of the unit
    write(folder, "small.csv", "a,y\n" + "".join(f"{k},7\n" for k in range(50)))
    assert "all targets are the same" in noregret(*told, cwd=folder).stderr
    write(folder, "many.csv", "a,y\n" + "".join(f"{k},{k}\n" for k in range(80)))
    assert "--task regression" in noregret("race", "many.csv", "--learners", "pa1", cwd=folder).stderr


def test_a_model_given_as_data_is_called_a_model(folder: Path) -> None:
    learner: Any = nr.make("pa1", native=False).learn([{"a": 1.0}], [1])
    learner.save(folder / "m.nr")
    for command in ("learn", "race", "topics", "compress"):
        done = noregret(command, "m.nr", cwd=folder)
        assert done.returncode == 2
        assert command == "compress" or "m.nr: this is a saved model, not data; `noregret show m.nr`" in done.stderr
