"""The planted cases of safety: their values are well-formed, each is judged, and the table adds up."""

import sys
from pathlib import Path
from random import Random

import pytest

from benchmarks import safety
from benchmarks.planted.safety.forms import data
from benchmarks.planted.safety.ids import national_id
from benchmarks.planted.safety.judge import Verdict
from benchmarks.planted.safety.people import iban
from benchmarks.planted.safety.site import Case
from benchmarks.planted.safety.table import table

STDNUM = {
    "ES": "es.dni", "BR": "br.cpf", "PL": "pl.pesel", "NL": "nl.bsn", "SE": "se.personnummer", "FI": "fi.hetu",
    "BE": "be.nn", "FR": "fr.nir", "CN": "cn.ric", "TR": "tr.tckimlik", "ZA": "za.idnr", "IT": "it.codicefiscale",
    "MX": "mx.curp", "CA": "ca.sin", "PT": "pt.nif", "AR": "ar.cuit", "US": "us.ssn", "DK": "dk.cpr",
}  # fmt: skip


def figures(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize("country", STDNUM)
def test_national_numbers_have_the_check_digits_of_their_country(country: str) -> None:
    module = pytest.importorskip(f"stdnum.{STDNUM[country]}")
    numbers = [national_id(country, Random(seed))[1].replace(".", "") for seed in range(20)]
    assert [number for number in numbers if not module.is_valid(number)] == []


def test_ibans_have_check_digits() -> None:
    module = pytest.importorskip("stdnum.iban")
    for country in data("people")["forms"]["IBAN"]:
        assert module.is_valid(iban(country, Random(country)), check_country=False), country


def test_the_same_seed_gives_the_same_site_and_another_seed_another() -> None:
    first, again, other = (safety.make_site(seed, 0.01).pages for seed in (1, 1, 2))
    assert first == again
    assert not {page.url for page in first} & {page.url for page in other}


def test_each_case_has_a_page_of_its_own() -> None:
    site = safety.make_site(3, 0.1)
    assert len({page.url for page in site.pages}) == len(site.pages) == len(site.cases)


def test_what_is_missed_taken_and_not_judged_is_counted_and_named() -> None:
    def case(kind: str, planted: bool) -> Case:
        return Case(kind, planted, "text", "v", "http://a.example/")

    rows = list(
        table(
            [
                (case("phone, national: DE", True), Verdict(True, "")),
                (case("phone, national: FR", True), Verdict(False, "as it was")),
                (case("near misses: price", False), Verdict(True, "1.00 -> +999 1")),
                (case("near misses: price", False), Verdict(False, "1.00")),
                (case("near misses: year", False), Verdict(None, "page lost")),
            ]
        )
    )
    assert rows[1] == "| near misses | 0 | 0 |  | 2 | 1 |  | 1 |"
    assert rows[2] == "| phone, national | 2 | 1 | 0.500 (0.095-0.905) | 2 | 1 | 0.500 | 0 |"
    assert rows[3].startswith("| all | 2 | 1 |")
    assert [row.split(" | ")[1] for row in rows if row.startswith("- ")] == ["taken", "not judged", "missed"]


@pytest.mark.slow
def test_it_runs_and_the_rows_add_up_to_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("pdqhash")
    monkeypatch.setattr(sys, "argv", ["safety", "--seed", "5", "--scale", "0.01", "--work", str(tmp_path)])
    safety.main()
    said = capsys.readouterr().out
    assert " ended with " not in said  # no command failed, the first run again after a forget included
    rows = [figures(row) for row in said.partition("\n\nWhere")[0].splitlines() if row.startswith("| ")][1:]
    assert rows[-1][0] == "all"
    for column in (1, 2, 7):  # near misses of personal data are near to several kinds
        assert sum(int(row[column]) for row in rows[:-1]) == int(rows[-1][column])
    assert int(rows[-1][1]) > 100
    assert {"forget", "forgotten, in another run", "licence required", "known abuse"} <= {row[0] for row in rows}
