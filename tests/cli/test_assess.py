"""``icsa assess``, ``icsa policy`` and the reports of ``icsa anonymize``: exit codes and output."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from icsa import cli
from tests.assessment.tables import break_the_self_test, normal_table, people, with_outlier


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    original = with_outlier(normal_table(seed=0), 6.0)
    original.write_csv(place / "original.csv")
    original.sample(fraction=1.0, shuffle=True, seed=1).write_csv(place / "copy.csv")
    normal_table(seed=1).head(120).select("c", "a", "b", "e", "d").write_csv(place / "fresh.csv")
    people().write_csv(place / "people.csv")
    one = people(seed=5).with_columns(
        patient_id=pl.concat([people()["patient_id"][:1], people(seed=5)["patient_id"][1:]])
    )
    one.write_csv(place / "one_name.csv")
    return place


def run(folder: Path, *arguments: str) -> int:
    return cli.run([str(folder / a) if a.endswith((".csv", ".html")) else a for a in arguments])


@pytest.mark.parametrize(
    ("original", "released", "word", "code"),
    [
        ("original.csv", "fresh.csv", "release", 0),
        ("people.csv", "one_name.csv", "look again", 3),
        ("original.csv", "copy.csv", "do not release", 4),
    ],
)
def test_the_gate(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    original: str,
    released: str,
    word: str,
    code: int,
) -> None:
    assert run(folder, "assess", original, released, "--gate") == code
    shown = capsys.readouterr().out
    assert shown.startswith(f"verdict: {word}\n")
    assert "rows copied cell by cell" in shown
    assert "people who stand out: " in shown
    assert run(folder, "assess", original, released, "--quiet") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("names", [("u", "v", "w", "x", "y"), ("a", "v", "w", "x", "y")])
def test_another_table_is_said_first_and_nothing_else(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], names: tuple[str, ...]
) -> None:
    normal_table(seed=3).rename(dict(zip(normal_table().columns, names, strict=True))).write_csv(
        tmp_path / "other.csv"
    )
    report, document = tmp_path / "report.html", tmp_path / "document.json"
    files = str(folder / "original.csv"), str(tmp_path / "other.csv")
    written = ("--report", str(report), "--json", str(document))
    assert cli.run(["assess", *files, "--gate", *written]) == 3
    shown = capsys.readouterr().out
    assert shown.startswith("verdict: look again\n")
    assert "do not look like a table and its release" in shown
    for question in ("copied", "attacker", "self-test", "rows copied cell by cell"):
        assert question not in shown
    page = report.read_text("utf-8")
    assert page.count("Not decided, as these do not look like a table and its release.") == 2
    assert "What do attackers get?" not in page
    assert 'id="people"' not in page
    said = json.loads(document.read_text("utf-8"))
    assert [reason["rule"] for reason in said["reasons"]] == ["another table"]
    assert cli.run(["verify", str(document), *files]) == 0
    capsys.readouterr()
    assert cli.run(["assess", *files, "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_an_untrusted_assessment_closes_the_gate(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_the_self_test(monkeypatch)
    assert run(folder, "assess", "original.csv", "fresh.csv", "--gate") == 4
    shown = capsys.readouterr().out
    assert shown.startswith("verdict: look again\n")
    assert "not to be trusted on this table: copies look safe" in shown


def test_files_are_written_and_never_overwritten(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "found.json"
    arguments = ["assess", "original.csv", "fresh.csv", "--json", str(path)]
    assert run(folder, *arguments) == 0
    assert json.loads(path.read_text(encoding="utf-8"))["verdict"] == "release"
    assert "note: The release has its columns in another order." in capsys.readouterr().out
    assert run(folder, *arguments) == 2
    assert "--force" in capsys.readouterr().err
    assert run(folder, *arguments, "--force", "--quiet") == 0
    assert run(folder, "assess", "original.csv", "fresh.csv", "--report", "fresh.csv") == 2
    assert "is an input" in capsys.readouterr().err


def test_outliers_models_and_policy(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.txt").write_text("150\n", encoding="utf-8")
    strict = tmp_path / "policy.toml"
    strict.write_text(
        'version = 1\n[person_chance]\nvalue = 1.0\nreason = "all"\nowner = "DPO"\n'
        '[person_ratio]\nvalue = 0.01\nreason = "copies alone"\nowner = "DPO"\n',
        encoding="utf-8",
    )
    path = tmp_path / "found.json"
    assert (
        run(
            folder,
            *("assess", "original.csv", "fresh.csv", "--gate"),
            *("--outliers", str(tmp_path / "rows.txt"), "--policy", str(strict)),
            *("--model", "a ~ b + c", "--json", str(path)),
        )
        == 3
    )
    found = json.loads(path.read_text(encoding="utf-8"))
    assert [person["row"] for person in found["people"]] == [150]
    assert found["policy"][0]["owner"] == "DPO"
    assert [row["term"] for row in found["utility"]["models"][0]["rows"]] == ["Intercept", "b", "c"]
    assert "(row 150)" in capsys.readouterr().out


def test_analyses_and_another_release_are_printed_and_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / name for name in ("in.json", "out.json")]
    arguments = [
        *("assess", "people.csv", "one_name.csv", "--against", "people.csv"),
        *("--classify", "sex", "--classify", "ward", "--clusters", "2", "--select", "pressure"),
        *("--json", str(paths[0]), "--public-json", str(paths[1])),
    ]
    assert run(folder, *arguments) == 0
    shown = capsys.readouterr().out
    for words in ("Predicting sex: ", "Predicting ward: ", "2 groups: ", "Lasso for pressure: "):
        assert f"analysis: {words}" in shown
    assert "RPE as defined" in shown
    assert "Above 1 favours this release" in shown
    internal, public = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    assert (internal["edition"], public["edition"]) == ("internal", "public")
    assert "people" not in public
    assert public["utility"]["efficiency"]["other"]["verdict"] == "do not release"
    assert run(folder, *arguments) == 2
    assert "--force" in capsys.readouterr().err
    same = ["assess", "people.csv", "one_name.csv", "--json", str(tmp_path / "a")]
    assert run(folder, *same, "--public-json", str(tmp_path / "a")) == 2
    assert "--json and --public-json are the same file" in capsys.readouterr().err
    target = ["--against", "copy.csv", "--public-json", str(folder / "copy.csv"), "--force"]
    assert run(folder, "assess", "original.csv", "fresh.csv", *target) == 2
    assert "is an input" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv", "fresh.csv"], "nothing.csv"),
        (["original.csv", "fresh.csv", "--outliers", "zz"], "No column 'zz'"),
        (["original.csv", "fresh.csv", "--model", "a ~ q"], "q"),
        (["original.csv", "fresh.csv", "--policy", "no.toml"], "no.toml"),
        (["original.csv", "fresh.csv", "--redraws", "-1"], "--redraws"),
        (["original.csv", "fresh.csv", "--clusters", "1"], "--clusters"),
        (["people.csv", "one_name.csv", "--classify", "sx"], "Did you mean 'sex'"),
        (["people.csv", "one_name.csv", "--classify", "age"], "'age' is numeric"),
        (["people.csv", "one_name.csv", "--select", "ward"], "numeric or has two levels"),
        (["original.csv", "fresh.csv", "--against", "nothing.csv"], "nothing.csv"),
    ],
)
def test_bad_input_is_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(folder, "assess", *arguments) == 2
    assert message in capsys.readouterr().err


def test_the_printed_policy_is_one_that_can_be_read(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["policy"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# Policy of icsa")
    assert "[identifier_share]\nvalue = 0.1\n" in text
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    assert run(folder, "assess", "original.csv", "fresh.csv", "--policy", str(path)) == 0
    path.write_text(text.replace("[person_ratio]", "[person_rato]"), encoding="utf-8")
    assert run(folder, "assess", "original.csv", "fresh.csv", "--policy", str(path)) == 2
    assert "Did you mean 'person_ratio'" in capsys.readouterr().err


def test_anonymize_reports_on_what_it_made(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("icsa.report.assessment_page")
    out, report, public = (tmp_path / name for name in ("r.csv", "in.html", "out.html"))
    options = ["--output", str(out), "--report", str(report), "--public-report", str(public)]
    assert run(folder, "anonymize", "people.csv", *options, "--redraws", "3", "--seed", "1") == 0
    shown = capsys.readouterr().out
    assert "verdict: " in shown
    assert "over 3 fresh keys: this key was " in shown
    assert out.exists()
    assert "CONFIDENTIAL" in report.read_text(encoding="utf-8")
    page = public.read_text(encoding="utf-8")
    assert "CONFIDENTIAL" not in page
    for code in people()["patient_id"]:
        assert code not in page
    for name in ("age", "pressure"):
        for end in (people()[name].min(), people()[name].max()):
            assert str(end) not in page
    assert run(folder, "anonymize", "people.csv", "--force", *options[:4]) == 0


def test_redraws_of_a_foreign_release_say_whose_risk_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "assess", "original.csv", "fresh.csv", "--redraws", "2") == 0
    shown = capsys.readouterr().out
    assert "only if it was made so" in shown
    assert "over 2 fresh keys" in shown


def test_the_control_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "assess", "original.csv", "fresh.csv") == 0
    assert "control (none): the nearest other original, which is weaker" in capsys.readouterr().out
    others = "others.csv"
    normal_table(120, seed=7).write_csv(folder / others)
    assert run(folder, "assess", "original.csv", "fresh.csv", "--holdout", others) == 0
    shown = capsys.readouterr().out
    assert "control (holdout): 120 people who were not in the table" in shown
    assert "50% tells nothing" in shown
    options = ["--holdout", "original.csv", "--json", str(folder / "control.json")]
    assert run(folder, "assess", "original.csv", "fresh.csv", *options) == 0
    assert "they are no holdout" in capsys.readouterr().out
    control = json.loads((folder / "control.json").read_text(encoding="utf-8"))["control"]
    assert (control["kind"], control["told_apart"]) == ("none", None)


def test_a_recipe_is_rehearsed_and_released_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["--recipe", "topcode", "--method", "sa", "--mask", "rotate"]
    options = [*made, "--rehearse", "3", "--redraws", "2"]
    assert run(folder, "assess", "original.csv", "fresh.csv", *options) == 0
    shown = capsys.readouterr().out
    assert "control (rehearsal): the same recipe released 4 random halves of the people" in shown
    assert "over 2 fresh keys" in shown
    assert "with recipe topcode, method sa, mask rotate on this original" in shown
    assert run(folder, "assess", "original.csv", "fresh.csv", *made, "--rehearse", "0") == 0
    assert "control (none): not rehearsed, as nobody wanted it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--holdout", "people.csv"], "The holdout lacks"),
        (["--holdout", "fresh.csv", "--rehearse", "2"], "two ways to the same"),
        (["--recipe", "mixd"], "mixd"),
        (["--mask", "rotat"], "rotat"),
        (["--scatters", "mcd50,mcd50"], "twice"),
    ],
)
def test_controls_that_cannot_be_had_are_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(folder, "assess", "original.csv", "fresh.csv", *arguments) == 2
    assert message in capsys.readouterr().err
