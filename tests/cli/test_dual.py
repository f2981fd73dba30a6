"""A bound on the loss by policy file and by options.

Plan shows it, run reports it, and the exit code is 4 if it allows too little.
"""

from __future__ import annotations

import re

import pytest

BOUND = "{max_loss: {per_class_ncp: LIMIT}, maximize: l, at_least: {l: LEAST}}\n    method: hilbert"


@pytest.fixture
def bounded(policy):
    """Writes a policy that bounds the loss and accepts some l."""

    def write(least: str, limit: str = "0.5") -> None:
        text = policy.read_text(encoding="utf-8").replace("{k: 5, l: 2}", BOUND)
        assert "LEAST" in text
        policy.write_text(text.replace("LEAST", least).replace("LIMIT", limit), encoding="utf-8")

    return write


def test_plan_and_run(cli, bounded):
    bounded("3/2")
    said = "maximize l: per_class_ncp at most 0.5 in every class"
    assert said in " ".join(cli("plan").out.split())
    assert cli("plan", "--json").json["bound"] == said
    report = cli("run", "--json").json
    (note,) = report["notes"]
    assert note.startswith(f"{said}: reached k = ")
    (reached,) = (one["reached"] for one in report["requirements"] if one["name"] == "l")
    assert reached >= 1.5
    assert report["loss"]["il_inf"] <= 0.5 + 2**-19
    assert report["loss"]["c_avg"] is None  # N / (classes x k), and no k is asked
    text = " ".join(cli("run", "--full").out.split())
    assert f"note: {said}: reached" in text
    assert "C_AVG" not in text
    assert "DM " in text


def test_too_little(cli, bounded):
    bounded("3/2", "0")
    assert cli("plan").code == 0
    ended = cli("run")
    assert ended.code == 4
    assert "at_least asks l = 1.5 of disease. Nothing was published." in " ".join(ended.err.split())
    assert cli("run", "--json").json["error"]["exit_code"] == 4
    assert cli("releases", "--json").json == {"releases": []}


def test_too_little_is_reported_once_for_the_release(cli, bounded):
    """What a release's own text names is not named again before it."""
    bounded("60")
    ended = cli("plan")
    assert ended.code == 4
    assert ended.err.splitlines()[-1].startswith("error: people: no release of ")
    assert "people: people" not in ended.err


def test_missing_words_are_those_of_the_command_line(cli, warehouse):
    ended = cli(
        "anonymize",
        "people",
        "--db",
        warehouse,
        "--qi",
        "age",
        "--sensitive",
        "disease",
        "--rest",
        "drop",
        "--maximize",
        "l",
        "--max-loss",
        "0.5",
    )
    assert ended.code == 2
    assert "--at-least: is missing; --maximize l needs" in ended.err
    assert "such as --at-least l=2" in ended.err


@pytest.mark.usefixtures("policy")
def test_change_says_nothing_of_what_is_not_asked(cli, bounded):
    assert cli("run").code == 0
    bounded("3/2")
    plan = cli("plan", "--json").json
    change = " ".join([plan["change"], *plan["why"]])
    assert "policy changed" in change
    assert "maximize" in change
    assert not {"None", "True", "False"} & set(re.findall(r"\w+", change))
