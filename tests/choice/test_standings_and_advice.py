"""What draws say of candidates, and which one is advised."""

from __future__ import annotations

from pathlib import Path

import pytest

from icsa.choice.advice import advise, front_of, preferred
from icsa.choice.candidates import Candidate, candidates_of
from icsa.choice.front_picture import front_picture
from icsa.columns import ColumnSpec
from icsa.errors import InputError
from icsa.schema import Schema
from tests.choice.tables import standing


def test_the_mean_over_keys_has_students_interval() -> None:
    found = standing("icsa mixed", [0.4, 0.5, 0.6])
    # s = .1, t of 2 degrees 4.303: 4.303 * .1 / sqrt(3)
    assert found.loss.value == pytest.approx(0.5)
    assert found.loss.high == pytest.approx(0.7484, abs=1e-4)
    assert found.parts == {"pairs": pytest.approx(0.5)}


def test_the_risk_is_the_larger_of_members_told_and_planted_found() -> None:
    told = standing("icsa mixed", [0.5, 0.5], areas=(0.62, 0.58))
    assert told.members.value == pytest.approx(0.2)
    assert told.risk == told.members
    # half width 2 * 1.96 * sqrt(4e-4 / 2)
    assert told.members.high == pytest.approx(0.2 + 0.0554, abs=1e-4)
    revealed = standing("icsa mixed", [0.5, 0.5], found=(0.5, 1.0))
    assert revealed.risk.value == pytest.approx(0.75)
    assert revealed.risk == revealed.planted
    assert revealed.gains == {"inference": pytest.approx(0.01)}


@pytest.mark.parametrize(
    ("words", "expected", "surely"),
    [
        (["release"] * 9 + ["look again"], "release", False),
        (["release"] * 8 + ["look again"] * 2, "look again", False),
        (["release"] * 5 + ["do not release"] * 5, "do not release", False),
        (["do not release"] * 10, "do not release", True),
        (["look again"] * 10, "look again", True),
    ],
)
def test_the_word_over_keys(words: list, expected: str, surely: bool) -> None:
    found = standing("icsa mixed", [0.5] * 10, words=words)
    assert (found.word, found.surely_forbidden) == (expected, surely)


def test_members_who_are_told_change_the_word() -> None:
    assert standing("icsa mixed", [0.5, 0.5], areas=(0.9, 0.9)).word == "look again"


def test_fresh_keys_give_the_figure_and_the_race_the_order() -> None:
    lucky = standing("forest mixed", [0.3, 0.3], [0.5, 0.5])
    other = standing("icsa mixed", [0.4, 0.4], [0.4, 0.4])
    found, best = advise([other, lucky])
    assert best is lucky
    assert best.loss.value == pytest.approx(0.5)
    assert "0.50" in found.text
    assert "The next one, icsa mixed, loses 0.1 less, which is more than noise" in found.text
    assert "a larger budget tells which is better" in found.text


def test_a_reversal_within_noise_is_called_one() -> None:
    best = standing("forest mixed", [0.3, 0.3], [0.40, 0.50, 0.60])
    other = standing("icsa mixed", [0.4, 0.4], [0.39, 0.49, 0.59])
    found, _ = advise([other, best])
    assert "loses 0.01 less, which is no more than noise: either will do." in found.text


def test_a_mask_that_lost_less_by_chance_is_named() -> None:
    best = standing("icsa mixed", [0.50, 0.60, 0.55], [0.5, 0.6])
    masked = standing("icsa mixed, mask rotate", [0.47, 0.54, 0.5], [0.5, 0.6])
    found, chosen = advise([masked, best])
    assert chosen is best
    assert "(but for icsa mixed, mask rotate, which must be clearly better)" in found.text


def test_safer_is_who_is_so_by_more_than_noise() -> None:
    best = standing("forest mixed", [0.3, 0.3], [0.3, 0.3], areas=(0.6, 0.6))
    a_little = standing("sa mixed", [0.4, 0.4], [0.4, 0.4], areas=(0.59, 0.59))
    clearly = standing("icsa mixed", [0.5, 0.5], [0.5, 0.5], areas=(0.5, 0.5))
    assert "is safer by more than noise" in advise([best, a_little])[0].text
    assert "Safer is icsa mixed: its risk is 0.00" in advise([best, a_little, clearly])[0].text


def test_neither_rivals_nor_barred_ones_are_advised() -> None:
    own = standing("icsa topcode", [0.6, 0.7], [0.64, 0.65, 0.66])
    barred = standing("sa mixed", [0.1, 0.1], [0.1, 0.1], assessed="look again")
    unassessed = standing("icsa mixed", [0.2, 0.2])
    rival = standing("mdav", [0.05, 0.05])
    found, best = advise([rival, barred, unassessed, own], Path("t.csv"))
    assert best is own
    assert found.may_be_released
    assert "sa mixed would lose 0.55 less, but its word is 'look again'" in found.text


def test_none_may_be_released_and_the_nearest_is_named() -> None:
    far = standing("sa mixed", [0.1, 0.1], [0.1, 0.1], assessed="do not release")
    near = standing("icsa mixed", [0.9, 0.9], [0.9, 0.9], assessed="look again")
    found, nearest = advise([far, near, standing("mdav", [0.1, 0.1])])
    assert not found.may_be_released
    assert nearest is near
    assert found.text == (
        "No candidate may be released: the nearest is icsa mixed, whose word is 'look again' "
        "(a reason)."
    )
    assert found.command == "icsa.anonymize(table)"


def test_another_mask_must_be_clearly_better() -> None:
    usual = standing("icsa mixed", [0.48, 0.56, 0.52])
    a_little = standing("icsa mixed, mask rotate", [0.47, 0.54, 0.5])
    clearly = standing("icsa mixed, mask rotate", [0.2, 0.21, 0.2])
    assert preferred([a_little, usual])[0] is usual
    assert preferred([usual, clearly])[0] is clearly


def test_the_front_has_those_whom_nobody_beats() -> None:
    safe = standing("icsa topcode", [0.9, 0.9], areas=(0.5, 0.5))
    sharp = standing("forest mixed", [0.3, 0.3], areas=(0.6, 0.6))
    beaten = standing("sa mixed", [1.0, 1.0], areas=(0.6, 0.6))
    barred = standing("icsa mixed", [0.1, 0.1], words="look again")
    assert front_of([beaten, sharp, barred, safe]) == [safe, sharp]


def test_the_picture_crosses_out_who_may_not_be_released() -> None:
    own = standing("icsa topcode", [0.6, 0.7], [0.6, 0.7])
    barred = standing("cart", [0.5, 0.6], words="do not release", areas=(0.8, 0.8))
    found, _ = advise([own, barred])
    drawn = front_picture([own, barred], [own], found)
    assert drawn.count('class="cross"') == 1
    assert drawn.count('class="rival"') == 1
    assert drawn.count('class="advised"') == 1
    assert drawn.count("line interval") == 4


def test_who_takes_part_depends_on_the_table() -> None:
    number, ward = (ColumnSpec(name=n, kind=k) for n, k in (("x", "continuous"), ("w", "category")))
    numbers = {one.name for one in candidates_of(Schema(columns={"x": number}))}
    mixed = {one.name for one in candidates_of(Schema(columns={"x": number, "w": ward}))}
    assert numbers - mixed == {"icsa mixed, scatters hr,tyler", "icsa paper", "sa paper"}
    assert mixed >= {"forest mixed", "icsa topcode", "sa mixed", "mdav", "cart", "copula", "noise"}
    assert not mixed & {"mdav mixed"}


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["sdcmicro"], "No method or rival 'sdcmicro': there are icsa, sa"),
        (["mdav"], "Only rivals"),
    ],
)
def test_methods_that_cannot_be_are_refused(methods: list[str], message: str) -> None:
    column = ColumnSpec(name="x", kind="continuous")
    with pytest.raises(InputError, match=message):
        candidates_of(Schema(columns={"x": column}), methods)


def test_the_command_names_everything(tmp_path: Path) -> None:
    candidate = Candidate(
        name="", method="icsa", recipe="mixed", scatters=("mcd50", "cov"), mask="rotate"
    )
    file = tmp_path / "people.csv"
    said = candidate.command(file, Path("s.toml"))
    assert said == (
        f"icsa anonymize {file} --schema s.toml --method icsa --recipe mixed --mask rotate "
        "--scatters mcd50,cov"
    )
    told = candidate.command(file, None, {"unit": "id", "time": None, "strata": ("town",)})
    assert told.startswith(f"icsa anonymize {file} --unit id --strata town --method icsa")
    (tmp_path / "people.release.csv").touch()
    assert candidate.command(file).endswith(" --force")
