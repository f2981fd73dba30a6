"""Differences of two policies in words, and whether they weaken the promises to readers.

Policies come as the catalog keeps them (`sqlanon.release.catalog.redacted_policy.redact`): plain JSON values, lists
of values as hashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlanon.declared import FORMATS, REQUIREMENTS
from sqlanon.declared.parameters import Closeness
from sqlanon.declared.records import ByColumn
from sqlanon.privacy.requirements import NOT_REQUIREMENTS
from sqlanon.release.catalog.redacted_policy import redact
from sqlanon.spec import PrivacySpec, ReleaseSpec

SETTINGS = ("context", "dimensions", "execution", "memory", "readers", "refresh", "review")
"""Keys that do not change the released rows: how a release is made, who reads it, and its joins.

A change of these needs no new version.
"""

HIDDEN = "not published"
Policy = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two policies.

    Attributes:
        what: the key, or the column and its setting.
        old, new: both values for people.
        weaker: the new policy promises less, or shows more.
        setting: the difference does not change the released rows.
    """

    what: str
    old: str
    new: str
    weaker: bool = False
    setting: bool = False

    def __str__(self) -> str:
        text = f"{self.what} {self.old} -> {self.new}"
        return f"{text} (weaker)" if self.weaker else text


def list_differences(old: Policy, new: Policy) -> tuple[Difference, ...]:
    """Every difference of two policies; a key that a policy lacks has its default."""
    old, new = _DEFAULTS | dict(old), _DEFAULTS | dict(new)
    differences = [*_privacy(old["privacy"], new["privacy"]), *_columns(old, new), *_formats(old, new)]
    differences += _compare_setting("rest", old["rest"], new["rest"], weaker=new["rest"] == "keep")
    differences += _compare_setting("rows_are", old["rows_are"], new["rows_are"], weaker=new["rows_are"] == "events")
    # With another key, rows of earlier and later versions cannot be matched: their joint disclosure is unknown.
    differences += _compare_setting("key", sorted(old["key"]), sorted(new["key"]), weaker=bool(old["key"]))
    # Without `whole` the released rows stay the same; warnings and the limits of an audit change.
    persons = (old["persons"], new["persons"])
    less = new["persons"] == "ignored" or old["persons"] == "whole"
    differences += _compare_setting("persons", *persons, weaker=less, setting="whole" not in persons)
    differences += _compare_failing(old["refresh"], new["refresh"])
    modes = old["refresh"].get("mode", "full"), new["refresh"].get("mode", "full")
    differences += _compare_setting("refresh.mode", *modes, weaker=modes[0] == "frozen", setting=False)
    approvals = [bool(policy["refresh"].get("needs_approval")) for policy in (old, new)]
    differences += _compare_setting("refresh.needs_approval", *approvals, weaker=approvals[0], setting=True)
    signed = [sorted(policy["refresh"].get("signers") or ()) for policy in (old, new)]
    # A name that is new may approve what the others would not.
    more = bool(signed[0]) and not set(signed[1]) <= set(signed[0])
    differences += _compare_setting(
        "refresh.signers", *signed, weaker=more or bool(signed[0] and not signed[1]), setting=True
    )
    differences += _threshold(old.get("threshold"), new.get("threshold"))
    # Every reader of the source's own file can read all of it.
    out = bool(old.get("publish_file") and not new.get("publish_file"))
    differences += _compare_setting("publish_file", old.get("publish_file"), new.get("publish_file"), weaker=out)
    differences += _compare_setting("publish", old.get("publish_lake"), new.get("publish_lake"))
    differences += _compare_setting("publish_to", old.get("publish_to"), new.get("publish_to"))
    differences += _persons(old, new)
    differences += _person(old, new)
    # Rows next to counts of the same source give hidden cells away.
    counts = bool(old.get("statistics")), bool(new.get("statistics"))
    differences += _compare_setting("statistics", *counts, weaker=counts[0])
    differences += _noisy(old.get("noisy"), new.get("noisy"))
    # Tokens that stay link versions.
    rotated = [bool((policy.get("together") or {}).get("rotate")) for policy in (old, new)]
    differences += _compare_setting("rotate", *rotated, weaker=rotated[0])
    compared = {
        "person",
        "null_person",
        "privacy",
        "columns",
        "format",
        "rest",
        "rows_are",
        "persons",
        "key",
        "name",
        "publish_file",
        "publish_lake",
        "publish_to",
        "threshold",
        *(("statistics",) if counts[0] != counts[1] else ()),
        "noisy",
    }
    for key in sorted((set(old) | set(new)) - compared):
        before, after = dict(_flat(key, old.get(key))), dict(_flat(key, new.get(key)))
        for path in sorted(set(before) | set(after)):
            if path not in _COMPARED:
                differences += _compare_setting(path, before.get(path), after.get(path), setting=key in SETTINGS)
    return tuple(differences)


def _noisy(old: Policy | None, new: Policy | None) -> Iterator[Difference]:
    """A larger epsilon is weaker, and so are rows or counts in place of noisy statistics."""
    yield from _compare_setting("differential privacy", bool(old), bool(new), weaker=bool(old))
    if not old or not new:
        return
    before, after = dict(_flat("noisy", old)), dict(_flat("noisy", new))
    for path in sorted(set(before) | set(after)):
        more = path == "noisy.epsilon" and Fraction(str(after[path])) > Fraction(str(before[path]))
        yield from _compare_setting(path, before.get(path), after.get(path), weaker=more)


def list_weakenings(differences: Sequence[Difference]) -> tuple[str, ...]:
    """Differences that must be confirmed, for people."""
    return tuple(str(item) for item in differences if item.weaker)


def _compare_setting(
    what: str, old: object, new: object, *, weaker: bool = False, setting: bool = False
) -> Iterator[Difference]:
    if old != new:
        yield Difference(what, _format_value(old), _format_value(new), weaker, setting)


def _format_value(value: object) -> str:
    if value is None or value in ([], {}, ()):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping) and "round" in value:
        return ", ".join(f"{key} {item}" for key, item in value.items() if item is not None)
    if isinstance(value, Mapping) and "sha256" in value:
        return f"{value.get('name', 'a list')} ({str(value['sha256'])[:8]})"
    return str(value)


def _flat(path: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key in value:
            yield from _flat(f"{path}.{key}", value[key])
    else:
        yield path, value


def _privacy(old: Policy, new: Policy) -> Iterator[Difference]:
    """A lower or dropped requirement is weaker; so is a setting that treats presence in the table as known."""
    for key, requirement in REQUIREMENTS.items():
        less = requirement.weaker(old.get(key), new.get(key))
        yield from _compare_setting(key, old.get(key), new.get(key), weaker=less)
    # A requirement that is not installed is only compared word by word.
    for key in sorted((set(old) | set(new)) - set(REQUIREMENTS) - set(NOT_REQUIREMENTS)):
        yield from _compare_setting(key, old.get(key), new.get(key), weaker=old.get(key) is not None)
    yield from _compare_setting("joint", old.get("joint"), new.get("joint"), weaker=not new.get("joint"))
    compared = [policy.get("compared_with", "released") for policy in (old, new)]
    yield from _compare_setting("compared_with", *compared, weaker=compared[1] == "source")
    was, now = bool(old.get("presence_disclosed")), bool(new.get("presence_disclosed"))
    yield from _compare_setting("presence disclosed", was, now, weaker=now)
    was, now = bool(old.get("own_boxes")), bool(new.get("own_boxes"))
    yield from _compare_setting("boxes of their own", was, now, weaker=now)
    was, now = bool(old.get("of_persons")), bool(new.get("of_persons"))
    yield from _compare_setting("k and l over persons", was, now, weaker=not now)
    earlier, later = old.get("person_share"), new.get("person_share")
    less = earlier is not None and (later is None or Fraction(later) > Fraction(earlier))
    yield from _compare_setting("person_share", earlier, later, weaker=less)
    before, after = (dict(_flat("accuracy", policy.get("accuracy"))) for policy in (old, new))
    for path in sorted(set(before) | set(after)):
        yield from _compare_setting(path, before.get(path), after.get(path))


def _columns(old: Policy, new: Policy) -> Iterator[Difference]:
    columns = [{column["name"]: column for column in policy["columns"]} for policy in (old, new)]
    for name in dict.fromkeys([*columns[0], *columns[1]]):
        before, after = columns[0].get(name), columns[1].get(name)
        was, now = _role(before, old), _role(after, new)
        yield from _compare_setting(
            f"column {name}:", was, now, weaker=_exposes(name, was, now, old["privacy"], new["privacy"])
        )
        for key, default in (
            ("weight", 1),
            ("hierarchy", None),
            ("ordered", None),
            ("scope", None),
            ("secret", None),
            ("recode", None),
        ):
            earlier, later = (before or {}).get(key, default), (after or {}).get(key, default)
            if _content(earlier) != _content(later):
                # Distances of values become others, so that the same bound on them may promise less.
                both = was == now == "sensitive" and all(
                    key in _list_distances(policy["privacy"], name) for policy in (old, new)
                )
                setting = _compare_setting(f"column {name}: {key}", earlier, later, weaker=both)
                yield from (replace(item, new=item.new + _finer(earlier, later)) for item in setting)
        reasons = [(column or {}).get("because") for column in (before, after)]
        yield from _compare_setting(f"column {name}: because", *reasons, setting=True)
        for key in ("accept_unique", "accept_repeats"):
            earlier, later = bool((before or {}).get(key)), bool((after or {}).get(key))
            # Values of a column that was not an identifier were not counted.
            can_expose = key == "accept_unique" or was == "identifier"
            yield from _compare_setting(f"column {name}: {key}", earlier, later, weaker=later and can_expose)


def _finer(rule: object, other: object) -> str:
    """Whether a hierarchy's rule has more levels, or fewer, than another rule of the kind, for people.

    The larger rule has all levels of the smaller rule.
    """
    if not isinstance(rule, str) or not isinstance(other, str):
        return ""
    (kind, levels, origin), (now, new, begin) = map(_rule, (rule, other))
    if kind != now or origin != begin or levels == new:
        return ""
    return " (finer)" if new > levels else " (coarser)" if new < levels else ""


def _rule(text: str) -> tuple[str, set[str], str]:
    """Kind, levels and origin of a rule as `str` writes it."""
    kind, _, rest = text.partition(" ")
    levels, _, origin = rest.partition(" from ")
    return kind, set(levels.split(", ")), origin


def _role(column: Policy | None, policy: Policy) -> str:
    if column is not None:
        return str(column["role"])
    return "insensitive" if policy["rest"] == "keep" else HIDDEN


def _exposes(name: str, before: str, after: str, old: Policy, new: Policy) -> bool:
    """Whether a column's new role shows more of the column, or protects it less, than the old role."""
    hidden = (HIDDEN, "identifier")
    if before == after or after in hidden:
        return False
    protected = _protects(new, name)
    if before in hidden:
        return before == "identifier" or after == "insensitive" or (after == "sensitive" and not protected)
    if before == "insensitive":
        return False
    if before == "sensitive" and after == "quasi":
        return _protects(old, name)
    return True


def _protects(privacy: Policy, name: str) -> bool:
    """Whether a requirement is about a sensitive column."""
    return any(_read_levels(key, privacy, name) for key, requirement in REQUIREMENTS.items() if requirement.sensitive)


def _read_levels(key: str, privacy: Policy, name: str) -> list[Any]:
    """Values of a requirement for a sensitive column; empty if it does not apply."""
    declared, value = privacy.get(key), REQUIREMENTS[key].value
    if not declared or not isinstance(value, ByColumn):
        return [declared] if declared else []
    return [column_value for _, column_value in value.of(value.read(declared), (name,))]


def _list_distances(privacy: Policy, name: str) -> set[str]:
    """Settings of a sensitive column that define distances of values, for requirements that use distances."""
    settings = {"ordered": "ordered", "hierarchical": "hierarchy"}
    distances = {
        requirement.distance
        for key in REQUIREMENTS
        for requirement in _read_levels(key, privacy, name)
        if isinstance(requirement, Closeness)
    }
    return {settings[distance] for distance in distances if distance in settings}


def _content(value: object) -> object:
    """Content of a hierarchy or an order; the file's name may change."""
    return value["sha256"] if isinstance(value, Mapping) and "sha256" in value else value


def _formats(old: Policy, new: Policy) -> Iterator[Difference]:
    """A format of exact rows, and means, which show sums, are both weaker."""
    kind = new["format"]["kind"]
    yield from _compare_setting("format", old["format"]["kind"], kind, weaker=FORMATS[kind].exact)
    means = [sorted(policy["format"].get("mean") or ()) for policy in (old, new)]
    yield from _compare_setting("format.mean", means[0], means[1], weaker=bool(set(means[1]) - set(means[0])))


def _persons(old: Policy, new: Policy) -> Iterator[Difference]:
    """An identifier that may not repeat, or is counted, keeps ten rows of the same person from passing as k = 10."""
    if old["rows_are"] != new["rows_are"] or new["persons"] == "ignored":
        return
    identifiers = [{c["name"]: c for c in policy["columns"] if c["role"] == "identifier"} for policy in (old, new)]
    checked = [sorted(name for name in names if not names[name].get("accept_repeats")) for names in identifiers]
    listed = {column["name"] for column in new["columns"]}
    if new["rows_are"] == "events":  # each is counted by itself
        lost = [name for name in checked[0] if name not in listed]
        if lost:
            yield Difference("persons counted by", ", ".join(checked[0]), _format_value(checked[1]), weaker=True)
    elif checked[0] and not checked[1] and not listed & set(checked[0]):
        yield Difference("one row a person, checked by", ", ".join(checked[0]), "nothing", weaker=True)


def _person(old: Policy, new: Policy) -> Iterator[Difference]:
    """Persons by other columns may be more persons; so are rows without a person that were one person, or refused."""
    was, now = (
        [str(name) for name in old.get("person") or ()],
        [str(name) for name in new.get("person") or ()],
    )
    yield from _compare_setting("person", was, now, weaker=bool(was) and set(was) != set(now))
    before, after = old.get("null_person"), new.get("null_person")
    yield from _compare_setting("null_person", before, after, weaker=bool(was) and after == "distinct")


def _compare_failing(old: Policy, new: Policy) -> Iterator[Difference]:
    before, after = old.get("max_failing"), new.get("max_failing")
    looser = before is not None and (after is None or after > before)
    yield from _compare_setting("history.max_failing", before, after, weaker=looser, setting=True)


def _threshold(old: Policy | None, new: Policy | None) -> Iterator[Difference]:
    """A higher risk, a weaker attacker or fewer known columns accept more; another reason does not.

    A threshold is no setting: the published version was not measured against the new threshold.
    """
    if old is None or new is None:
        yield from _compare_setting("threshold", _format_threshold(old), _format_threshold(new), weaker=old is not None)
        return
    looser = Fraction(new["risk"]) > Fraction(old["risk"])
    for key, strictest in (("attacker", "prosecutor"), ("over", "published")):
        looser |= new[key] not in (old[key], strictest)
    yield from _compare_setting("threshold", _format_threshold(old), _format_threshold(new), weaker=looser)
    yield from _compare_setting("threshold.because", old["because"], new["because"], setting=True)


def _format_threshold(threshold: Policy | None) -> str | None:
    return None if threshold is None else f"{threshold['risk']} ({threshold['attacker']}, {threshold['over']} columns)"


_COMPARED = ("refresh.max_failing", "refresh.mode", "refresh.needs_approval", "refresh.signers", "together.rotate")
"""Paths with a separate comparison."""
_DEFAULTS = redact(ReleaseSpec("", "", (), PrivacySpec()))
