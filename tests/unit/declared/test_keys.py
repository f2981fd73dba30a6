"""One home for every key of a policy: Python, the command line, JSON Schema and the documents say the same."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from inspect import signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Required, Union, get_args, get_origin, get_type_hints

import pytest

import sqlanon
from sqlanon.cli.policy_options import collect_given
from sqlanon.declared.formats import FORMATS, FormatFacts
from sqlanon.declared.key import REQUIRED, Form, Key
from sqlanon.declared.keys import ARGUMENTS, FIRST, KEYS, PANELS, TABLE
from sqlanon.declared.options import AnonymizeOptions, FileOptions
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.errors import PolicyError
from sqlanon.policy import models, noisy_models, reference, release, schema
from sqlanon.policy.reference import arguments_table, signatures
from sqlanon.policy.sections import SECTIONS
from sqlanon.spec import ReleaseSpec
from tests.invoked import commands, invoke

ROOT = Path(__file__).parents[3]
MODELS: dict[str, type[models.PolicyPart]] = {
    "policy:": models.PolicyModel,
    "": models.ReleaseModel,
    "columns.*.": models.ColumnModel,
    "columns.*.hierarchy.": models.HierarchyModel,
    "privacy.": models.PrivacyModel,
    "privacy.max_loss.": models.MaxLossModel,
    "privacy.at_least.": models.AtLeastModel,
    "method.": models.MethodModel,
    "refine.": models.RefineModel,
    "suppression.": models.SuppressionModel,
    "format.": models.FormatModel,
    "refresh.": models.RefreshModel,
    "refresh.cohort.": models.CohortModel,
    "history.": models.HistoryModel,
    "tables:": models.TablesModel,
    "statistics:": models.StatisticsReleaseModel,
    "statistics:refresh.": models.CountedRefreshModel,
    "statistics:refresh.cohort.": models.CountsCohortModel,
    "statistics.": models.StatisticsModel,
    "statistics.columns.*.": models.CountedColumnModel,
    "statistics.measures.*.": models.CountedMeasureModel,
    "statistics.measures.*.dominance.": models.DominanceModel,
    "statistics.tables.": models.CountedTableModel,
    "statistics.protect.": models.ProtectModel,
    "context.": models.ContextModel,
    "threshold.": models.ThresholdModel,
    "budgets.": noisy_models.BudgetModel,
    "noisy:": noisy_models.NoisyReleaseModel,
    "noisy.": noisy_models.NoisyModel,
    "noisy.tables.": noisy_models.NoisyTableModel,
    "noisy.groups.*.": noisy_models.NoisyGroupsModel,
    "noisy.measures.*.": noisy_models.NoisyMeasureModel,
    "noisy.contributions.": noisy_models.ContributionsModel,
    "noisy.show.": noisy_models.ShowModel,
    "noisy.running.": noisy_models.RunningModel,
    "noisy.rows.": noisy_models.RowsModel,
}
"""The model of each part of a policy, by how the paths of its keys begin."""
NOT_ARGUMENTS = {
    "source": "the first argument",
    "columns": "given by role",
    "privacy": "given key by key",
    "history": "given key by key",
    "refresh": "for policies: what is made again and again",
    "columns.*.role": "given by role",
    "columns.*.because": "for policies: reports print it",
    "privacy.max_loss": "given as a number",
    "format.kind": "given as format",
}
"""Keys of a release that are no argument of their own, with the reason.

Options of `method`, `refine` and `suppression` are given within them.
"""
COMMANDS_OWN = {
    "source",
    "db",
    "accept_shared",
    "temporary",
    "allow_weaker",
    "null",
    "delimiter",
    "encoding",
    "types",
    "decimal",
    "ignore",
    "date_format",
    "escape_formulas",
    "json",
    "quiet",
    "verbose",
    "debug",
}
"""Options of ``sqlanon anonymize`` that are no keys of a policy."""


def parts() -> dict[str, dict[str, Key]]:
    """The keys of each part by name."""
    found: dict[str, dict[str, Key]] = {part: {} for part in MODELS}
    for path, key in KEYS.items():
        part = max((part for part in MODELS if path.startswith(part)), key=len)
        found[part][path.removeprefix(part)] = key
    return found


def members(kind: Any) -> set[Any]:
    return set(get_args(kind)) if get_origin(kind) in (Union, UnionType) else {kind}


def test_every_key_has_a_kind_and_every_field_a_key() -> None:
    assert len(SECTIONS) == len(MODELS)
    for part, keys in parts().items():
        section = SECTIONS[MODELS[part].__name__]
        assert section.keys == set(keys)
        assert [key for key in keys if key in section.parts] == list(section.parts)
        assert all(one.value is not None for one in section.parts.values())
        named = {one.field or name for name, one in section.parts.items()}
        assert named == {one.name for one in fields(section.make)} - {"given", "more"}
        assert {key for key in keys if key not in section.parts} <= set(REQUIREMENTS)


def test_every_key_of_a_release_is_an_argument_or_says_why_not() -> None:
    given = {"columns.*.role" if argument.is_role else argument.path for argument in ARGUMENTS}
    within = {
        "policy:",
        "columns.*.hierarchy.",
        "privacy.at_least.",
        "method.",
        "refine.",
        "suppression.",
        "refresh.",
        "refresh.cohort.",
        "tables:",
        *(part for part in MODELS if part.startswith(("statistics", "budgets", "noisy", "context", "threshold"))),
    }
    keys = {key.path for part, known in parts().items() if part not in within for key in known.values()}
    by_name = {"columns.*.role", "privacy"}
    assert given - by_name | set(NOT_ARGUMENTS) == keys
    assert given & set(NOT_ARGUMENTS) == by_name


def test_every_argument_has_a_place_in_the_order() -> None:
    assert sorted(key.name for key in ARGUMENTS) == sorted(key.name for key in TABLE if key.type)
    assert len({key.path for key in TABLE}) == len(TABLE)


def test_the_typed_arguments_are_generated() -> None:
    """After a change: python -c "from sqlanon.policy.sections import SECTIONS
    from sqlanon.policy.reference import signatures; print(signatures(), end='')"."""
    assert signatures() == (ROOT / "sqlanon/declared/options.py").read_text(encoding="utf-8")


def test_the_typed_arguments_are_those_that_there_are() -> None:
    hints = get_type_hints(AnonymizeOptions, include_extras=True)
    assert set(hints) == {argument.name for argument in ARGUMENTS}
    for argument in ARGUMENTS:
        hint = hints[argument.name]
        assert (get_origin(hint) is Required) == argument.required
        assert (NoneType in members(hint)) == argument.optional, argument.name
    assert set(hints) - set(get_type_hints(FileOptions)) == {"publish", "publish_file", "publish_to"}


def test_defaults_are_those_of_the_keys() -> None:
    """Leaving an argument out, and giving its default, is the same; so is the spec that is made by hand."""
    bare = release(source="t", quasi="age", k=1)
    assert bare == ReleaseSpec("t", "t", bare.columns, bare.privacy)
    for argument in ARGUMENTS:
        if argument.name not in ("quasi", "k"):
            same: dict[str, Any] = {"quasi": "age", "k": 1, argument.name: argument.assumed}
            assert release(source="t", **same) == bare, argument.name
    for part, keys in parts().items():
        made = schema()
        fields = made if part == "policy:" else made["$defs"][MODELS[part].__name__]
        assert set(fields.get("required", ())) == {name for name, key in keys.items() if key.default is REQUIRED}
        for name, key in keys.items():
            field = fields["properties"][name]
            assert field["description"] == key.text
            if key.default is not REQUIRED:
                assert field.get("default") == (list(key.default) if isinstance(key.default, tuple) else key.default)


def test_the_command_line_has_every_argument_that_it_may_have_and_nothing_else() -> None:
    command: Any = commands().commands["anonymize"]
    options = {one.name: one for one in command.params if one.name not in (*COMMANDS_OWN, "help")}
    offered = {argument.name: argument for argument in ARGUMENTS if argument.option}
    hints = get_type_hints(AnonymizeOptions)
    assert list(options) == list(offered)
    for name, argument in offered.items():
        option = options[name]
        assert option.opts == [argument.option]
        assert not option.secondary_opts
        assert option.help == argument.short
        assert option.help
        assert option.multiple == (argument.form not in (Form.TEXT, Form.WORD, Form.WHOLE, Form.FLAG))
        assert option.is_flag == (argument.form is Form.FLAG)
        if argument.form is Form.WORD:
            assert set(get_args(option.type_descriptor.annotation)) <= {
                word for kind in members(hints[name]) for word in get_args(kind)
            }
            assert option.default is None
            assert option.show_default == (argument.assumed or False)
    # What is made again night after night is said in a file.
    assert {a.name for a in ARGUMENTS} - set(offered) == {
        "readers",
        "dimensions",
        "key",
        "every",
        "keep",
        "expire",
        "max_failing",
    }


def test_the_help_shows_first_what_people_need_first() -> None:
    shown = invoke("anonymize", "--help", COLUMNS="100").output
    panels = {
        title: re.findall(r"^  (?:-\w, )?(--[a-z-]+)", listed, re.MULTILINE)
        for title, listed in re.findall(r"^(\S.*):\n((?:  .*\n)+)", shown, re.MULTILINE)
    }
    first, *_, last = (title for title in panels if title != "Arguments")
    assert first == FIRST
    assert len(panels[first]) == 10
    assert {"--db", "--to", "--qi", "--sensitive", "--k"} <= set(panels[first])
    assert panels[last] == ["--json", "--quiet", "--verbose", "--debug", "--help"]
    for title, names in PANELS.items():
        keys = [key for key in ARGUMENTS if key.name in names.split()]
        options = [key.option for key in keys if key.option]
        assert [option for option in panels.get(title, ()) if option in options] == options, title
    command: Any = commands().commands["anonymize"]
    offered = [max(one.opts, key=len) for one in command.params if one.param_type_name == "option"]
    assert sorted(option for listed in panels.values() for option in listed) == sorted([*offered, "--help"])


def test_an_option_that_is_not_given_asks_for_nothing() -> None:
    command: Any = commands().commands["anonymize"]
    values = {one.name: one.default for one in command.params if one.name not in (*COMMANDS_OWN, "help")}
    given = collect_given(values | {"quasi": ["age"], "k": 1})
    assert release(source="t", **given) == release(source="t", quasi="age", k=1)


def test_the_documents_list_the_arguments() -> None:
    table = arguments_table()
    assert table in (ROOT / "docs/policy.md").read_text(encoding="utf-8")
    assert table in reference()
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert named == [argument.name for argument in ARGUMENTS]


@pytest.mark.parametrize("wrong", ["quazi", "publish_too", "source_", "l2"])
def test_an_argument_that_there_is_not(wrong: str) -> None:
    arguments: dict[str, Any] = {"quasi": "age", "k": 2, wrong: 1}
    with pytest.raises(TypeError, match=f"no argument {wrong}"):
        release(source="t", **arguments)
    with pytest.raises(TypeError, match="quasi is missing"):
        release(source="t", k=2)  # type: ignore[call-arg]


CALLS = """\
import sqlanon

with sqlanon.connect("duckdb:///:memory:") as db:
    db.anonymize("t", quasi=["age"], sensitive="illness", k=5, l=2.5, method="tree", format="labels", \
weights={"age": 2})
    db.anonymize("t", quazi=["age"], k=5)
    db.anonymize("t", quasi=["age"], k="5")
    db.anonymize("t", quasi=["age"], rest="ignore")
    db.anonymize("t", k=5)
    report: sqlanon.RunReport = db.anonymize("t", quasi="age", k=5).report
sqlanon.anonymize("a.csv", to="b.csv", quasi="age", k=2, null="?")
sqlanon.anonymize("a.csv", to="b.csv", quasi="age", k=2, publish="v")
options: sqlanon.AnonymizeOptions = {"quasi": "age", "kk": 2}
"""
WRONG = {
    5: 'Unexpected keyword argument "quazi"',
    6: 'Argument "k" to "anonymize" of "Database" has incompatible type "str"',
    7: 'Argument "rest" to "anonymize" of "Database" has incompatible type',
    8: 'Missing named argument "quasi"',
    11: 'Unexpected keyword argument "publish"',
    12: 'Extra key "kk" for TypedDict "AnonymizeOptions"',
}


@pytest.mark.thorough
def test_mypy_sees_wrong_arguments(tmp_path: Path) -> None:
    file = tmp_path / "calls.py"
    file.write_text(CALLS, encoding="utf-8")
    # By the settings and with the cache of `dev.py check`: what it has judged is not judged again.
    command = [sys.executable, "-m", "mypy", "--strict", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    found: dict[int, str] = {}
    for line in done.stdout.splitlines():
        if at := re.match(r".*calls\.py:(\d+): error: (.*)", line):
            found.setdefault(int(at[1]), at[2])
    assert set(found) == set(WRONG), done.stdout
    assert all(found[line].startswith(text) for line, text in WRONG.items()), found


def test_what_the_interface_takes_and_gives_is_public() -> None:
    """Every class of sqlanon that a signature names can be imported from sqlanon itself."""
    common = {
        "Any",
        "Literal",
        "Self",
        "Sequence",
        "Mapping",
        "PathLike",
        "Unpack",
        "BaseException",
        "TracebackType",
        "SparkSession",
        "Fraction",
        "None",
    }
    for home in (sqlanon.Database, sqlanon.Release, sqlanon.connect, sqlanon.anonymize, sqlanon.load_policy):
        functions = [home] if callable(home) and not isinstance(home, type) else vars(home).values()
        for function in functions:
            if not hasattr(function, "__annotations__") or function.__name__ == "__init__":
                continue
            named = set(re.findall(r"\b[A-Z]\w+", " ".join(map(str, function.__annotations__.values()))))
            assert named - common <= set(sqlanon.__all__), function
    for name in sqlanon.__all__:
        assert getattr(sqlanon, name) is not None


def test_the_signature_shows_the_typed_arguments() -> None:
    from sqlanon import Database

    (last,) = [one for one in signature(Database.anonymize).parameters.values() if one.kind is one.VAR_KEYWORD]
    assert "AnonymizeOptions" in str(last.annotation)


def test_a_format_that_an_extension_declares_is_one_of_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Policies, their schema, Python and the command line know it at once; the help lists our own."""
    monkeypatch.setitem(FORMATS._known, "stars", FormatFacts("stars", "stars:Stars", "a star for each value."))
    assert release(source="t", quasi="age", k=2, format={"kind": "stars"}).format.kind == "stars"
    assert "stars" in schema()["$defs"]["FormatModel"]["properties"]["kind"]["enum"]
    with pytest.raises(PolicyError, match="did you mean stars"):
        release(source="t", quasi="age", k=2, format={"kind": "star"})
