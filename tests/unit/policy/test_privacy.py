"""What `privacy` may ask for: the direct problem, the dual one, and the presence that the format anatomy discloses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.errors import PolicyError
from sqlanon.policy import checks, release
from sqlanon.policy.document import Document
from sqlanon.policy.models import FormatModel
from sqlanon.policy.problems import Problems
from sqlanon.policy.sections import read_release
from sqlanon.spec import Accuracy, PrivacySpec, ReleaseSpec
from tests.unit.policy.samples import SMALL, with_key, with_privacy

HALF = "max_loss: {per_class_ncp: 0.5}"
K = f"{HALF}, maximize: k, at_least: {{k: 2}}"
L = f"{HALF}, maximize: l, at_least: {{l: 2}}"


@pytest.mark.parametrize(
    ("written", "privacy"),
    [
        (
            "{max_loss: {per_class_ncp: 0.3}, maximize: l, at_least: {l: 2}}",
            PrivacySpec(l=Fraction(2), accuracy=Accuracy("l", Fraction(3, 10))),
        ),
        (
            "{max_extent: {age: 10}, maximize: k, at_least: {k: 5}}",
            PrivacySpec(k=5, accuracy=Accuracy("k", None, (("age", Fraction(10)),))),
        ),
        (
            "{max_loss: {per_class_ncp: 0}, max_extent: {sex: 0, age: 2.5}, maximize: l, at_least: {k: 3, l: 5/2}}",
            PrivacySpec(
                k=3,
                l=Fraction(5, 2),
                accuracy=Accuracy("l", Fraction(0), (("sex", Fraction(0)), ("age", Fraction(5, 2)))),
            ),
        ),
        (
            "{max_loss: {per_class_ncp: 1}, maximize: k, at_least: {k: 1, l: 1}, joint: false, l:}",
            PrivacySpec(k=1, l=Fraction(1), accuracy=Accuracy("k", Fraction(1))),
        ),
        ("{k: 3, max_loss:, maximize:, at_least:, presence:}", PrivacySpec(k=3)),
    ],
)
def test_what_is_read(read: Any, written: str, privacy: PrivacySpec) -> None:
    assert read(with_privacy(written)).releases[0].privacy == privacy


@pytest.mark.parametrize(
    ("written", "where", "what"),
    [
        ("{}", "k", "is missing"),
        ("{l: 2}", "k", "is missing"),
        ("{k: }", "k", "is empty"),
        (f"{{k: 2, {HALF}}}", "max_loss", "maximize is missing"),
        ("{max_extent: {age: 1}}", "max_extent", "maximize is missing"),
        ("{k: 2, at_least: {l: 2}}", "at_least", "maximize is missing"),
        ("{maximize: k, at_least: {k: 2}}", "maximize", "nothing bounds the loss"),
        (f"{{{HALF}, maximize: m, at_least: {{k: 2}}}}", "maximize", "not a word known here"),
        (f"{{{HALF}, maximize: [k], at_least: {{k: 2}}}}", "maximize", "a list is not allowed"),
        (f"{{{HALF}, maximize: k}}", "at_least", "is missing"),
        (f"{{{HALF}, maximize: k, at_least: {{}}}}", "at_least.k", "is missing"),
        (f"{{{HALF}, maximize: k, at_least: {{l: 2}}}}", "at_least.k", "is missing"),
        (f"{{{HALF}, maximize: l, at_least: {{k: 2}}}}", "at_least.l", "is missing"),
        (f"{{{HALF}, maximize: l, at_least: 2}}", "at_least", "not a mapping"),
        (f"{{{HALF}, maximize: l, at_least: {{l: 0.5}}}}", "at_least.l", "too small"),
        (f"{{{HALF}, maximize: k, at_least: {{k: 0}}}}", "at_least.k", "too small"),
        (f"{{{HALF}, maximize: k, at_least: {{k: 2, t: 1}}}}", "at_least.t", "unknown key"),
        (f"{{k: 2, {K}}}", "k", "cannot be combined with maximize"),
        (f"{{l: 2, {K}}}", "l", "cannot be combined with maximize"),
        (f"{{distinct_l: 2, {L}}}", "distinct_l", "cannot be combined with maximize"),
        (f"{{joint: true, {L}}}", "joint", "cannot be combined with maximize"),
        ("{max_loss: 0.3, maximize: k, at_least: {k: 2}}", "max_loss", "not a mapping"),
        ("{max_loss: {}, maximize: k, at_least: {k: 2}}", "max_loss.per_class_ncp", "is missing"),
        ("{max_loss: {per_class_ncp: }, maximize: k, at_least: {k: 2}}", "max_loss.per_class_ncp", "is empty"),
        ("{max_loss: {per_class_ncp: -0.1}, maximize: k, at_least: {k: 2}}", "max_loss.per_class_ncp", "too small"),
        ("{max_loss: {per_class_ncp: 1.01}, maximize: k, at_least: {k: 2}}", "max_loss.per_class_ncp", "too large"),
        (
            "{max_loss: {per_class_ncp: 30%}, maximize: k, at_least: {k: 2}}",
            "max_loss.per_class_ncp",
            "not a number or fraction",
        ),
        (
            "{max_loss: {per_class_ncp: 1/0}, maximize: k, at_least: {k: 2}}",
            "max_loss.per_class_ncp",
            "not a number or fraction",
        ),
        (
            "{max_loss: {per_class_ncp: 0.0123456789}, maximize: k, at_least: {k: 2}}",
            "max_loss.per_class_ncp",
            "too precise",
        ),
        ("{max_loss: {per_class_ncp: 1, gcp: 1}, maximize: k, at_least: {k: 2}}", "max_loss.gcp", "unknown key"),
        ("{max_extent: 10, maximize: k, at_least: {k: 2}}", "max_extent", "not a mapping"),
        ("{max_extent: {}, maximize: k, at_least: {k: 2}}", "max_extent", "no column"),
        ("{max_extent: {age: -1}, maximize: k, at_least: {k: 2}}", "max_extent.age", "too small"),
        ("{max_extent: {age: 1e99}, maximize: k, at_least: {k: 2}}", "max_extent.age", "too large"),
        ("{max_extent: {age: 1e300}, maximize: k, at_least: {k: 2}}", "max_extent.age", "too large"),
        ("{max_extent: {age: 1e-300}, maximize: k, at_least: {k: 2}}", "max_extent.age", "too precise"),
        (f"{{max_extent: {{age: 1{'0' * 39}1}}, maximize: k, at_least: {{k: 2}}}}", "max_extent.age", "too large"),
        ("{max_extent: {age: .inf}, maximize: k, at_least: {k: 2}}", "max_extent.age", "not a number or fraction"),
        (
            "{max_extent: {agee: 1}, maximize: k, at_least: {k: 2}}",
            "max_extent.agee",
            "a column that is not listed (did you mean age?)",
        ),
        ("{max_extent: {cost: 1}, maximize: k, at_least: {k: 2}}", "max_extent.cost", "the column is insensitive"),
        ("{k: 2, presence: disclosed}", "presence", "the format is ranges"),
        ("{k: 2, presence: disclose}", "presence", "not a word known here (did you mean disclosed?)"),
    ],
)
def test_one_problem(problems: Any, written: str, where: str, what: str) -> None:
    (problem,) = problems(with_privacy(written))
    assert problem.startswith(f"anon.yml:12: releases[patients].privacy.{where}: {what}; "), problem


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        (f"{{k: 2, {K}}}", "put it under at_least"),
        (
            f"{{distinct_l: 2, {L}}}",
            "ask for l under at_least: no value above 1/l of a class means at least l different values",
        ),
        (f"{{joint: true, {L}}}", "ask for l of each sensitive column under at_least"),
        (
            "{maximize: k, at_least: {k: 2}}",
            "maximize goes with max_loss: {per_class_ncp: 0.3} or max_extent: {column: 10} or both",
        ),
        (f"{{{HALF}, maximize: l}}", "maximize: l needs the least l that is accepted, such as at_least: {l: 2}"),
        (f"{{k: 2, {HALF}}}", "max_loss goes with maximize: k or maximize: l"),
        ("{max_loss: 0.3, maximize: k, at_least: {k: 2}}", "key: value pairs, such as {per_class_ncp: 0.3}"),
        (
            "{max_loss: {per_class_ncp: 2}, maximize: k, at_least: {k: 2}}",
            "a number of at least 0 and at most 1, such as 0.3 or 3/10",
        ),
        ("{max_extent: {cost: 1}, maximize: k, at_least: {k: 2}}", "quasi columns: age, sex"),
        ("{k: 2, presence: yes}", "only disclosed is allowed"),
        ("{k: 2, boxes: yes}", "only own is allowed"),
    ],
)
def test_the_problem_says_what_to_do(problems: Any, written: str, instead: str) -> None:
    (problem,) = problems(with_privacy(written))
    assert problem.split("; ")[1] == instead


@pytest.mark.parametrize(
    ("written", "where", "needs"),
    [
        (f"{{{L}}}", "maximize", "maximize: l needs a column with the role sensitive"),
        (
            f"{{{HALF}, maximize: k, at_least: {{k: 2, l: 2}}}}",
            "at_least.l",
            "l needs a column with the role sensitive",
        ),
    ],
)
def test_l_needs_a_sensitive_column(problems: Any, written: str, where: str, needs: str) -> None:
    (problem,) = problems(with_privacy(written).replace(": sensitive", ": quasi"))
    assert problem == f"anon.yml:12: releases[patients].privacy.{where}: no sensitive column; {needs}"


def test_every_problem_of_the_dual_comes_at_once_with_its_line(problems: Any) -> None:
    text = with_privacy("""
      k: 0
      max_loss: {per_class_ncp: 2}
      max_extent:
        name: 3
        age: x
      maximize: l
      at_least: {k: 1.5}
      presence: disclosed""")
    assert [problem.split(";")[0].removeprefix("anon.yml:") for problem in problems(text)] == [
        "13: releases[patients].privacy.k: too small",
        "13: releases[patients].privacy.k: cannot be combined with maximize",
        "14: releases[patients].privacy.max_loss.per_class_ncp: too large",
        "16: releases[patients].privacy.max_extent.name: the column is identifier",
        "17: releases[patients].privacy.max_extent.age: not a number or fraction",
        "19: releases[patients].privacy.at_least.k: not a whole number",
        "19: releases[patients].privacy.at_least.l: is missing",
        "20: releases[patients].privacy.presence: the format is ranges",
    ]


def test_a_broken_role_causes_no_second_problem(problems: Any) -> None:
    text = with_privacy("{max_extent: {age: 3}, maximize: l, at_least: {l: 2}}")
    text = text.replace("age: quasi", "age: quasy").replace(": sensitive", ": sensitiv")
    assert [problem.split(":")[1] for problem in problems(text)] == ["7", "9"]


def test_a_mean_goes_with_the_k_that_is_accepted(read: Any, problems: Any) -> None:
    dual = "{max_loss: {per_class_ncp: 0.5}, maximize: k, at_least: {k: 5}}"
    text = with_privacy(dual) + "    format: {mean: age}\n"
    assert read(text).releases[0].format.mean == ("age",)
    (problem,) = problems(text.replace("k: 5", "k: 4"))
    assert "format.mean: k is below 5" in problem


@pytest.mark.parametrize("extent", [2**63, 10**30, 2**128 - 1, 10**39])
def test_extents_of_the_widest_types(extent: int) -> None:
    """HUGEINT and UHUGEINT of DuckDB, DECIMAL(38) of both engines."""
    spec = release(source="t", quasi="x", max_extent={"x": extent}, maximize="k", at_least={"k": 2})
    assert spec.privacy.accuracy == Accuracy("k", None, (("x", Fraction(extent)),))


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_every_bound_is_exact(part: int, whole: int) -> None:
    loss = Fraction(min(part, whole), max(part, whole))
    extent = Fraction(part, whole)
    spec = release(source="t", quasi="age", max_loss=loss, max_extent={"age": extent}, maximize="k", at_least={"k": 2})
    assert spec.privacy.accuracy == Accuracy("k", loss, (("age", extent),))


@given(st.floats(0, 1).filter(lambda value: value == 0 or value > 1e-4).map(lambda value: round(value, 9)))
def test_a_float_is_taken_by_its_decimal_text(loss: float) -> None:
    spec = release(source="t", quasi="age", max_loss=loss, maximize="k", at_least={"k": 2})
    assert spec.privacy.accuracy == Accuracy("k", Fraction(str(loss)))


def anatomy(text: str) -> ReleaseSpec:
    """The release of a policy file, its format taken to be anatomy whether formats of that name exist or not."""
    document = Document("anon.yml", text, {})
    assert isinstance(document.data, dict)
    problems = Problems(document)
    path = ("releases", 0)
    raw: Any = document.data["releases"]
    model = read_release(raw[0], path, problems)
    assert model is not None
    spec = checks.build(
        replace(model, format=FormatModel(kind="anatomy", mean=())), raw[0], path, problems, checks.Files(Path())
    )
    problems.stop()
    return spec


@pytest.mark.parametrize(
    ("written", "privacy"),
    [
        ("{l: 3}", PrivacySpec(l=Fraction(3))),
        ("{k: 1, l: 3}", PrivacySpec(l=Fraction(3))),
        ("{k: 10, presence: disclosed}", PrivacySpec(k=10, presence_disclosed=True)),
        ("{l: 3, presence: disclosed}", PrivacySpec(l=Fraction(3), presence_disclosed=True)),
    ],
)
def test_anatomy_needs_no_k(written: str, privacy: PrivacySpec) -> None:
    assert anatomy(with_privacy(written)).privacy == privacy


@pytest.mark.parametrize("written", [f"{{{L}}}", f"{{{K}, presence: disclosed}}"])
def test_anatomy_keeps_to_no_bound(written: str) -> None:
    """Refused as it is read, as a run would."""
    with pytest.raises(PolicyError) as raised:
        anatomy(with_privacy(written))
    (problem,) = raised.value.problems
    assert "releases[patients].format: format anatomy does not publish how far a class reaches" in problem


EXACT = (
    "the format anatomy publishes exact quasi values, which meet no k and confirm who is in the table; "
    "say presence: disclosed to accept that, or drop k"
)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{k: 2, l: 3}", f"k: {EXACT}"),
        (f"{{{K}}}", f"at_least.k: {EXACT}"),
        (f"{{{K.replace('{k: 2}', '{k: 1}')}}}", f"at_least.k: {EXACT}"),
        ("{k: 2, presence: maybe}", "presence: not a word known here; only disclosed is allowed"),
        ("{k: 1}", "l: is missing; the format anatomy hides nothing but which sensitive value is whose; ask for l"),
        ("{}", "l: is missing; the format anatomy hides nothing but which sensitive value is whose; ask for l"),
        ("{k: 0}", "k: too small; a whole number of at least 1"),
    ],
)
def test_anatomy_meets_no_k(written: str, problem: str) -> None:
    with pytest.raises(PolicyError) as raised:
        anatomy(with_privacy(written))
    assert raised.value.problems == [f"anon.yml:12: releases[patients].privacy.{problem}"]


def test_an_unknown_format_asks_for_no_k(problems: Any) -> None:
    (problem,) = problems(with_privacy("{l: 2, presence: disclosed}") + "    format: anatomi\n")
    assert "format.kind: not a word known here" in problem


@pytest.mark.parametrize("text", [SMALL, with_key("format: labels")])
def test_presence_is_not_disclosed_by_default(read: Any, text: str) -> None:
    assert read(text).releases[0].privacy.presence_disclosed is False
