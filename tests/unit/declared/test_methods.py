"""Methods as data: what is declared fits the code, and a policy is checked by it before any code is imported."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.declared import METHODS, Registry, Whole, Word, collect_request, list_refusals
from sqlanon.declared.keys import KEYS
from sqlanon.errors import PolicyError
from sqlanon.methods.method import make_method, method_of
from sqlanon.policy import loads, release
from sqlanon.spec import Accuracy, MethodSpec, PrivacySpec, ReleaseSpec
from sqlanon.testing.methods import check_options

SPEC = release(source="t", quasi="age", sensitive="illness", k=2)

POLICY = """\
version: 1
releases:
  - name: words
    source: t
    columns: {age: quasi, illness: sensitive}
    privacy: {k: 2}
    method: mondrain
  - name: options
    source: t
    columns: {age: quasi, illness: sensitive}
    privacy: {k: 2}
    method:
      name: idistance
      minimise: max
      minimize: zqcanary
      centres: 0
  - name: combination
    source: t
    columns: {age: quasi, illness: sensitive, outcome: sensitive}
    privacy: {k: 2, l: 2}
    method: {name: topdown}
    rest: ignore
  - name: dual
    source: t
    columns: {age: quasi, illness: sensitive, outcome: sensitive}
    privacy: {max_loss: {per_class_ncp: 0.5}, maximize: l, at_least: {l: 2}}
    method: mondrian:variant=relaxed
    execution: pushdown
"""
PROBLEMS = [
    (
        "policy:7: releases[words].method.name: there is no such method (did you mean mondrian?); methods: tree, "
        "hilbert, hilbert_fast, idistance, idistance_fast, mondrian, topdown, anatomy, suppress, best, tds, "
        "fulldomain, koptimize, kmember, mdav, agglomerative, sequential, microaggregation, freeform, matchings"
    ),
    (
        "policy:14: releases[options].method.minimise: idistance has no such option (did you mean minimize?); options: "
        "minimize (gcp | sum | max), solver (auto | optimal | ac | ipcsd | dual), centres (a whole number from 1 to "
        "50000)"
    ),
    "policy:15: releases[options].method.minimize: not a word known here; one of gcp, sum, max",
    "policy:16: releases[options].method.centres: too small; a whole number from 1 to 50000",
    (
        "policy:21: releases[combination].method: topdown is for k alone: it looks at the sizes of its clusters alone; "
        "with l use tree, hilbert or mondrian"
    ),
    "policy:22: releases[combination].rest: not a word known here; one of error, drop, keep",
    ("policy:27: releases[dual].method: mondrian has no pushdown when l is maximized; leave execution out (auto)"),
    (
        "policy:27: releases[dual].method.variant: mondrian: variant=relaxed does not maximize; maximize l with "
        "variant=strict"
    ),
    (
        "policy:27: releases[dual].method: mondrian maximizes l of one sensitive column, the policy has 2; "
        "publish each in a release of its own, or maximize k"
    ),
]


def test_every_problem_of_methods_comes_at_once_with_its_line() -> None:
    with pytest.raises(PolicyError) as raised:
        loads(POLICY, {})
    assert raised.value.problems == PROBLEMS


def test_that_is_known_before_any_code_of_a_method_is_imported(tmp_path: Path) -> None:
    (tmp_path / "anon.yml").write_text(POLICY, encoding="utf-8")
    look = (
        "import sys, sqlanon\n"
        "try: sqlanon.load_policy('anon.yml')\n"
        "except sqlanon.PolicyError as error: print(len(error.problems))\n"
        "heavy = {'numpy', 'numba', 'duckdb', 'sqlanon.engines', 'sqlanon.kernels', 'sqlanon.table'}\n"
        "rooms = ('sqlanon.methods.', 'sqlanon.papers.', 'sqlanon.privacy.')\n"
        "found = [name for name in sys.modules if name.startswith(rooms) and name.count('.') > 2]\n"
        "print(sorted(heavy & set(sys.modules)), {name.rpartition('.')[2] for name in found})\n"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split("\n")[:2] == [str(len(PROBLEMS)), "[] {'declaration'}"]


def test_the_reference_names_every_method() -> None:
    """It does not ask the registry, which would import extensions."""
    assert KEYS["method.name"].text.partition(". ")[0] == ", ".join(f"`{name}`" for name in METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_the_code_takes_the_options_that_are_declared_and_their_defaults(name: str) -> None:
    check_options(METHODS[name])


@pytest.mark.parametrize("name", [name for name in METHODS if name != "best"])  # whose methods are asked each
def test_executions_that_a_method_has_not_are_refused(name: str) -> None:
    own = METHODS[name]
    asked = replace(collect_request(SPEC, own), own_boxes=own.own_boxes, options=own.values({}))
    for execution in ("kernel", "pushdown"):
        said = [str(one) for one in list_refusals(own, replace(asked, execution=execution))]
        refused = any(f"has no {execution}" in one for one in said)
        assert refused or execution in own.executions, said


def test_declared_limits_are_those_of_the_kernels() -> None:
    from sqlanon.papers.idistance import kernels as idistance
    from sqlanon.papers.topdown import kernels as topdown

    most = {(name, limit.of): limit.most for name, one in METHODS.items() for limit in one.limits if not limit.when}
    assert most == {
        ("idistance", "quasi columns"): idistance.MOST_AXES,
        ("idistance_fast", "quasi columns"): idistance.MOST_AXES,
        ("topdown", "rows"): topdown.MOST_ROWS,
    }
    centres = METHODS["idistance"].option("centres")
    assert isinstance(centres, Whole)
    assert (centres.default, centres.high) == (idistance.CENTRES, idistance.MOST_SAMPLED)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (MethodSpec("tree"), "tree:minimize=gcp"),
        (MethodSpec("hilbert", {"solver": "dual", "minimize": "max"}), "hilbert:minimize=max,solver=dual"),
        (MethodSpec("idistance", {"centres": "64"}), "idistance:minimize=gcp,centres=64"),
        (MethodSpec("idistance_fast", {"centres": "512"}), "idistance_fast:minimize=gcp"),
        (MethodSpec("mondrian"), "mondrian:variant=strict,cut=loss"),
        (MethodSpec("topdown"), "topdown"),
        (MethodSpec("anatomy"), "anatomy"),
    ],
)
def test_reports_name_a_method_as_catalogs_of_0_1_0_do(options: MethodSpec, shown: str) -> None:
    assert make_method(options).describe() == shown


def test_text_form_and_arguments_are_checked_alike() -> None:
    for given in ("tree:zqcanary=1", {"name": "tree", "minimize": "zqcanary"}, "zqcanary"):
        with pytest.raises(PolicyError) as raised:
            release(source="t", quasi="age", k=2, method=given)
        assert str(raised.value).startswith("method")
        assert "canary" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"method": MethodSpec("none")}, "there is no such method"),
        ({"method": MethodSpec("tree", {"cut": "loss"})}, "tree has no such option"),
        ({"method": MethodSpec("tree", {"minimize": "all"})}, "minimize: not a word known here"),
        ({"method": MethodSpec("topdown"), "privacy": PrivacySpec(k=2, l=Fraction(2))}, "topdown is for k alone"),
        (
            {"method": MethodSpec("tree", {"solver": "dual"}), "privacy": PrivacySpec(accuracy=Accuracy("l"))},
            "solver=dual is for l that is asked",
        ),
    ],
)
def test_a_spec_made_by_hand_is_checked_when_it_is_run(change: dict[str, Any], problem: str) -> None:
    spec: ReleaseSpec = replace(SPEC, **change)
    with pytest.raises(PolicyError, match=problem):
        method_of(spec)


def test_keys_that_do_not_go_together_are_reported_with_their_line() -> None:
    text = (
        "version: 1\nreleases:\n  - name: a\n    source: t\n    columns: {age: quasi, s: sensitive}\n"
        "    privacy: {max_loss: {per_class_ncp: 0.5}, maximize: l, at_least: {l: 2}}\n"
        "    format: suppressed\n    refine: yes\n"
    )
    with pytest.raises(PolicyError) as raised:
        loads(text, {})
    assert raised.value.problems == [
        (
            "policy:7: releases[a].format: format suppressed does not publish how far a class reaches (a cell is the "
            "value or nothing), so a bound on it cannot be checked; use ranges, labels or points"
        ),
        (
            "policy:8: releases[a].refine: refine lowers the loss and does not look at the bound; leave it out where "
            "l is maximized"
        ),
    ]


def test_a_broken_part_is_not_held_against_the_method() -> None:
    """Where privacy or columns cannot be read, what the method takes of them is not known."""
    for broken in ("privacy: {k: 2, l: much}", "privacy: {k: 2, l: 2}\n    execution: fast"):
        with pytest.raises(PolicyError) as raised:
            loads(
                "version: 1\nreleases:\n  - name: a\n    source: t\n    columns: {age: quasi, s: sensitive}\n"
                f"    method: topdown\n    {broken}\n",
                {},
            )
        assert len(raised.value.problems) == 1


def test_a_name_is_declared_once() -> None:
    registry: Registry[Word] = Registry("method", [Word("tree", ("a",), "")])
    registry.add(Word("hedge", ("a",), ""))
    assert list(registry) == ["tree", "hedge"]
    assert registry.get("bush") is None
    with pytest.raises(ValueError, match="there is a method tree already; choose another name"):
        registry.add(Word("tree", ("b",), ""))
    for name in ("Tree", "", "a-b", "1st", 'a"b'):
        with pytest.raises(ValueError, match="cannot be the name of a method"):
            registry.add(Word(name, ("a",), ""))
    assert list(registry) == ["tree", "hedge"]


def test_an_option_is_declared_once() -> None:
    with pytest.raises(ValueError, match="method tree declares an option twice"):
        replace(METHODS["tree"], options=METHODS["tree"].options * 2)
