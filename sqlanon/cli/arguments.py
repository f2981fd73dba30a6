"""Option texts to the parts that they have: comma lists with CSV quoting, ``column=value`` pairs.

Numbers stay texts, which `sqlanon.policy.release` reads as those of a policy file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlanon.declared.key import Form
from sqlanon.declared.keys import ARGUMENTS
from sqlanon.errors import PolicyError


def parse_names(option: str, texts: Sequence[str] | None) -> tuple[str, ...]:
    """Column names of a comma list; a name that holds a comma or a quote is quoted as in CSV.

    Args:
        option: the option's name, for the message.
        texts: a text for each time the option was given.

    Example:
        >>> parse_names("--qi", ['age,"city, state"', "zip"])
        ('age', 'city, state', 'zip')
    """
    names: list[str] = []
    for text in texts or ():
        place, more = 0, True
        while more:
            field = _FIELD.match(text, place)
            name = _unquote(field[1], field[2]) if field else ""
            if not field or not name:
                wrong = 'a comma list of names is wanted; one that holds a comma is quoted as in CSV: a,"b, c"'
                raise PolicyError(f"{option}: {wrong}")
            names.append(name)
            place, more = field.end(), field[3] == ","
    return tuple(names)


def parse_pairs(option: str, texts: Sequence[str] | None, kind: str = "column", noun: str = "") -> dict[str, str]:
    """``column=value`` options; a column that holds ``=`` is put in double quotes.

    Args:
        option: the option's name, for the message.
        texts: a text for each time the option was given.
        kind: name of the part before ``=``, for the message.
        noun: possible values of that part, for the message.

    Example:
        >>> parse_pairs("--hierarchy", ["zip=zip.csv", '"a=b"=c.csv'])
        {'zip': 'zip.csv', 'a=b': 'c.csv'}
    """
    pairs: dict[str, str] = {}
    for text in texts or ():
        pair = _PAIR.fullmatch(text)
        column = _unquote(pair[1], pair[2]) if pair else ""
        if not pair or not column:
            raise PolicyError(f"{option}: {kind}=value is wanted{f': {noun}' if noun else ''}")
        if column in pairs:
            raise PolicyError(f"{option}: {kind} {column} is given twice")
        pairs[column] = pair[3]
    return pairs


def parse_settings(option: str, texts: Sequence[str] | None) -> dict[str, str]:
    """A comma list of ``key=value``.

    Example:
        >>> parse_settings("--suppression", ["limit=0.05,rows=left_out"])
        {'limit': '0.05', 'rows': 'left_out'}
    """
    keys = next((argument.metavar or "" for argument in ARGUMENTS if argument.option == option), "")
    return parse_pairs(option, [item for text in texts or () for item in text.split(",")], "key", keys)


SWITCHES = tuple(argument.option for argument in ARGUMENTS if argument.form is Form.SWITCH)
"""Options with a value that may be left out."""
_SETTING = re.compile(r"[A-Za-z_]+=")
ON = "true"
"""Value of an option of `switch` where none is given."""


def with_values(words: Sequence[str]) -> list[str]:
    """A command line in which each of `SWITCHES` has a value: the next word where that is ``key=...``, else `ON`.

    Example:
        >>> with_values(["t.csv", "--refine", "--k", "5", "--refine", "search=8"])
        ['t.csv', '--refine=true', '--k', '5', '--refine=search=8']
    """
    expanded: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*expanded, word, *rest]
        if word in SWITCHES:
            word += f"={rest.pop(0) if rest and _SETTING.match(rest[0]) else ON}"
        expanded.append(word)
    return expanded


def switch(option: str, texts: Sequence[str] | None) -> bool | dict[str, str] | None:
    """True where no value is given, else a comma list of ``key=whole number``.

    Example:
        >>> switch("--refine", ["true"]), switch("--refine", ["search=8,passes=2"])
        (True, {'search': '8', 'passes': '2'})
    """
    settings = [text for text in texts or () if text != ON]
    return parse_settings(option, settings) if settings else bool(texts) or None


def as_options(error: PolicyError, release: str = "") -> PolicyError:
    """The same problems, with the arguments and the advice in them written as options.

    Problems of a run begin with the name of the ``release``, which may be that of an argument and is left as it is.

    Example:
        >>> as_options(PolicyError("quasi[age]: is listed twice, such as at_least: {l: 2}")).problems
        ['--qi age: is listed twice, such as --at-least l=2']
    """
    written_problems = [
        problem if problem.startswith(f"{release}:") else _ARGUMENT.sub(_option, problem) for problem in error.problems
    ]
    problems = [_WRITTEN.sub(_to_write, problem) for problem in written_problems]
    return type(error)(problems)


_ARGUMENT = re.compile(r"^([a-z_]+)(?:\[([^]]*)\])?(?=:)")
_OPTIONS = {argument.name: argument.option for argument in ARGUMENTS if argument.option}


def _option(match: re.Match[str]) -> str:
    option = _OPTIONS.get(match[1])
    if option is None:
        return match[0]
    # `metrics` is a list: its places are not in the text that was written.
    return f"{option} {match[2]}" if match[2] and match[1] != "metrics" else option


_WRITTEN = re.compile(
    r"(?:privacy: \{)?(?<![\w.-])"
    r"(maximize|max_loss|max_extent|at_least|presence|boxes|rows_are|persons|null_person|row_security|suppression): "
    r"(?:\{([^{}]*)\}|([a-z]+))\}?"
)
"""A key of a policy and a value, as messages quote them to be written."""


def _to_write(match: re.Match[str]) -> str:
    option = _OPTIONS[match[1]]
    if match[2] is None:
        return f"{option} {match[3]}"
    pairs = [item.partition(": ") for item in match[2].split(", ")]
    if match[1] == "suppression":
        return f"{option} {','.join(f'{key}={value}' for key, _, value in pairs)}"
    return " ".join(f"{option} {value if key == 'per_class_ncp' else f'{key}={value}'}" for key, _, value in pairs)


_FIELD = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",][^,]*?))\s*(,|$)')
_PAIR = re.compile(r'(?:"((?:[^"]|"")*)"|([^"=][^=]*))=(.+)', re.DOTALL)


def _unquote(quoted: str | None, plain: str | None) -> str:
    return (plain or "").strip() if quoted is None else quoted.replace('""', '"')
