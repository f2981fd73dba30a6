"""The texts of clients: split into statements, parameters replaced by values, columns of bounds taken out."""

from __future__ import annotations

import datetime
import math
import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from sqlanon.query.parse.text_limits import MOST_CHARACTERS
from sqlanon.serve.refusals import NOT_SUPPORTED, SYNTAX, TOO_MUCH, QueryText, ServeError
from sqlanon.serve.values import INT4, INT8, OID, TEXT, Type, find_type, list_of
from sqlanon.sqltext import literal, respell

PARAMETERS = 1000
"""Most parameters of a statement."""
DIGITS = 1000
"""Most digits of a number that is a parameter, after the point or in zeros before it."""
STATEMENTS = 50
"""Most statements of a message."""
_JOINED = re.compile(
    r"""(?P<kept>
        \b[eE]'(?:[^'\\]|\\.|'')*+(?:'|\Z) | '(?:[^']|'')*+(?:'|\Z) | "(?:[^"]|"")*+(?:"|\Z)
        | --[^\n]*+ | /\*(?:.*?\*/|.*) | \$(?P<tag>(?:[A-Za-z_]\w*+)?)\$(?:.*?\$(?P=tag)\$|.*)
    ) | (?P<parameter>\$[0-9]+)(?=[^\s$]+\$) | (?P<oids>\b[oO][iI][dD])(?=\s*\[\s*\])""",
    re.DOTALL | re.VERBOSE,
)
"""Parts that sqlglot cannot read: for it ``$1,$2`` begins a quoted text, and it has no lists of ``oid``."""
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
ENDS = ("low", "high")
OIDS = list_of(OID)


@dataclass(frozen=True)
class Piece:
    """A statement of a client's text.

    Attributes:
        text: without the semicolon.
        start: start position in the client's text.
        words: the first tokens in capitals, which give the kind of statement.
        gaps: positions of spaces that are not in the client's text.
        oids: the client's text has lists of ``oid``, which are lists of ``int`` here.
    """

    text: str
    start: int
    words: tuple[str, ...]
    gaps: tuple[int, ...] = ()
    oids: bool = False

    @property
    def tokens(self) -> list[Token]:
        """The tokens of the text; their places count from the beginning. They are not kept: they are large."""
        return _tokens(self.text)

    def place(self, position: int) -> int:
        """Where a character of the text is in the client's; from 1, as errors count, and 0 is nowhere."""
        return position + self.start - sum(gap < position - 1 for gap in self.gaps) if position else 0


def split(text: str) -> list[Piece]:
    """The statements of a text; none of an empty text.

    Raises:
        ServeError: the text is too long, or a quote does not end.
    """
    if len(text) > MOST_CHARACTERS:
        raise ServeError(TOO_MUCH, f"a query has at most {MOST_CHARACTERS:,} characters")
    text, gaps, oids = _add_spaces(text)
    tokens = _tokens(text)
    pieces, begin = [], 0
    for index, token in enumerate([*tokens, None]):
        if token is None or token.token_type is TokenType.SEMICOLON:
            if begin < index:
                start, end = tokens[begin].start, tokens[index - 1].end + 1
                words = tuple(token.text.upper() for token in tokens[begin : min(index, begin + 4)])
                piece_gaps = tuple(gap - start for gap in gaps if start <= gap < end)
                pieces.append(Piece(text[start:end], start - sum(gap < start for gap in gaps), words, piece_gaps, oids))
            begin = index + 1
    if len(pieces) > STATEMENTS:
        raise ServeError(TOO_MUCH, f"a message has at most {STATEMENTS} statements")
    return pieces


def _add_spaces(text: str) -> tuple[str, list[int], bool]:
    """The text with a space after each parameter that another follows at once, and the positions of these.

    Lists of ``oid`` become lists of ``int``, a name of the same length; whether there are some is the last result.
    """
    parts: list[str] = []
    gaps: list[int] = []
    last = length = 0
    oids = False
    for match in _JOINED.finditer(text):
        if match["parameter"]:
            parts += [text[last : match.end()], " "]
            length += match.end() - last
            gaps.append(length)
            length += 1
            last = match.end()
        elif match["oids"]:
            parts += [text[last : match.start()], "int"]
            oids = True
            length += match.end() - last
            last = match.end()
    return "".join([*parts, text[last:]]), gaps, oids


def _tokens(text: str) -> list[Token]:
    try:
        return list(Dialect.get_or_raise("postgres").tokenize(text))
    except (SqlglotError, RecursionError) as error:
        raise ServeError(SYNTAX, "the text cannot be read: a quote or a comment does not end") from error


def parameters(piece: Piece) -> list[tuple[int, int, int]]:
    """The parameters of a statement: number, start and end.

    Raises:
        ServeError: a number is too large.
    """
    places = []
    for token, after in pairwise(piece.tokens):
        if (
            token.token_type is TokenType.PARAMETER
            and after.token_type is TokenType.NUMBER
            and after.start == token.end + 1
        ):
            number = int(after.text) if after.text.isdigit() and len(after.text) < 6 else 0
            if not 0 < number <= PARAMETERS:
                raise ServeError(TOO_MUCH, f"a statement has at most {PARAMETERS:,} parameters")
            places.append((number, token.start, after.end + 1))
    return places


def parameter_types(piece: Piece, declared: Sequence[int], columns: Mapping[str, Type]) -> list[int]:
    """The numbers of the types of a statement's parameters.

    Args:
        piece: the statement.
        declared: the types declared by the client; 0: not declared.
        columns: types of columns, by their names in small letters: a parameter that is compared with a column has the
            column's type.
    """
    most = max([len(declared), *(number for number, _, _ in parameters(piece))])
    types = list(declared) + [0] * (most - len(declared))
    unknown = [i for i, oid in enumerate(types) if oid in (0, 705)]
    if not unknown:
        return types
    try:
        tree = Dialect.get_or_raise("postgres").parse(piece.text)[0]
    except (SqlglotError, RecursionError):
        tree = None
    guessed: dict[int, int] = {}
    for node in tree.find_all(exp.Parameter) if tree is not None else ():
        if isinstance(node.this, exp.Literal) and node.this.this.isdigit():
            kind = _guess(node, columns)
            guessed.setdefault(int(node.this.this), (OIDS if piece.oids and kind is list_of(INT4) else kind).oid)
    for i in unknown:
        types[i] = guessed.get(i + 1, TEXT.oid)
    return types


def _guess(node: exp.Expr, columns: Mapping[str, Type]) -> Type:
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Neg):
        parent = parent.parent
    if isinstance(parent, exp.Cast):
        return find_type(parent.to.sql(dialect="postgres"))
    if isinstance(parent, exp.Limit | exp.Offset | exp.Fetch):
        return INT8
    if isinstance(parent, exp.Binary | exp.Between | exp.In | exp.Any | exp.Tuple):
        near = parent.parent if isinstance(parent, exp.Any | exp.Tuple) else parent
        for operand in near.args.values() if near is not None else ():
            if isinstance(operand, exp.Column) and operand.name.lower() in columns:
                column = columns[operand.name.lower()]
                return list_of(column) if isinstance(parent, exp.Any) else column
    return TEXT


def bound(text: str, places: Sequence[tuple[int, int, int]], values: Sequence[object]) -> QueryText:
    """A text of PostgreSQL with values in place of parameters.

    Args:
        text: the statement.
        places: positions of the parameters, from `parameters`.
        values: by their numbers.

    Raises:
        ServeError: a parameter has no value, or SQL has no literal for the value.
    """
    return edit(text, with_values(places, values, "postgres"))


def with_values(
    places: Sequence[tuple[int, int, int]], values: Sequence[object], dialect: str
) -> list[tuple[int, int, str]]:
    """Replacements of the parameters of a text: start, end and the value, for `edit`; see `bound`."""
    literals: dict[int, str] = {}
    edits, length = [], 0
    for number, start, end in places:
        if number > len(values):
            raise ServeError("42P02", f"there is no parameter ${number}", position=start + 1)
        if number not in literals:
            literals[number] = write_literal(values[number - 1], dialect)
        length += len(literals[number])
        if length > MOST_CHARACTERS:
            raise ServeError(TOO_MUCH, f"a query has at most {MOST_CHARACTERS:,} characters with its parameters")
        edits.append((start, end, literals[number]))
    return edits


def edit(text: str, edits: Sequence[tuple[int, int, str]]) -> QueryText:
    """A text with pieces replaced, and where the rest was."""
    parts, last = [], 0
    for start, end, new in edits:
        parts += [text[last:start], new]
        last = end
    return QueryText("".join([*parts, text[last:]]), tuple((start, end, len(new)) for start, end, new in edits))


def write_literal(value: object, dialect: str) -> str:
    """A value as a literal of SQL, quoted.

    Raises:
        ServeError: SQL here has no literal for it.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float | Decimal):
        if not math.isfinite(value):
            raise ServeError(NOT_SUPPORTED, "a parameter is no finite number")
        if isinstance(value, Decimal) and abs(int(value.as_tuple().exponent)) > DIGITS:  # 1e-999999999 is long
            raise ServeError(TOO_MUCH, f"a parameter has at most {DIGITS:,} digits")
        text = str(value) if isinstance(value, int) else format(Decimal(str(value)), "f")
        return f"({text})" if text.startswith("-") else text
    if isinstance(value, datetime.datetime):
        kind = "TIMESTAMP" if value.tzinfo is None else "TIMESTAMP WITH TIME ZONE"
        return f"CAST({respell(literal(value.isoformat(sep=' ')), dialect)} AS {kind})"
    if isinstance(value, datetime.date):
        return f"CAST({respell(literal(value.isoformat()), dialect)} AS DATE)"
    if isinstance(value, str | uuid.UUID):
        if "\0" in str(value):
            raise ServeError(NOT_SUPPORTED, "a parameter has a NUL character")
        return respell(literal(str(value)), dialect)
    if isinstance(value, list):
        return f"ARRAY[{', '.join(write_literal(item, dialect) for item in value)}]"
    raise ServeError(NOT_SUPPORTED, "parameters are numbers, texts, dates, times, booleans and lists of these")


@dataclass(frozen=True)
class Output:
    """A column of the answer that a client asked for by name.

    Attributes:
        name: name for the client.
        item: name of the query's column that the bound belongs to; "": it is the next column itself.
        end: low or high.
        position: position in the text.
    """

    name: str = ""
    item: str = ""
    end: str = ""
    position: int = 0


def take_bounds(piece: Piece, columns: Collection[str]) -> tuple[list[tuple[int, int, str]], list[Output]]:
    """Take ``n_low`` and ``n_high`` out of the SELECT list.

    Args:
        piece: the statement.
        columns: names of the table's columns in small letters: they mean these columns.

    Returns:
        The cuts in the text, and the outputs in order.
    """
    items = _items(piece.tokens)
    outputs: list[Output] = []
    cuts: list[tuple[int, int, str]] = []
    kept_items = 0
    for i, item in enumerate(items):
        item_end = _end_of(item, columns)
        if item_end is None:
            outputs.append(Output())
            kept_items += 1
            continue
        outputs.append(Output(item[-1].text, *item_end, position=item[0].start + 1))
        # With the comma before it; in front of the first column that stays, with the comma after.
        start = items[i - 1][-1].end + 1 if kept_items else item[0].start
        end = item[-1].end + 1 if kept_items or i + 1 == len(items) else items[i + 1][0].start
        cuts.append((start, end, ""))
    if not kept_items:
        return [], [Output()] * len(items)
    return cuts, outputs


def _items(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens of each item of the outermost SELECT list; none where several queries are combined."""
    items: list[list[Token]] = [[]]
    depth, within = 0, False
    for token in tokens:
        depth -= token.token_type is TokenType.R_PAREN
        if depth == 0 and token.token_type in (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT):
            return []
        if within and depth == 0 and token.token_type is TokenType.FROM:
            within = False
        elif within and depth == 0 and token.token_type is TokenType.COMMA:
            items.append([])
        elif within:
            items[-1].append(token)
        elif depth == 0 and token.token_type is TokenType.SELECT and items == [[]]:
            within = True
        depth += token.token_type is TokenType.L_PAREN
    return items if all(items) else []


def _end_of(item: Sequence[Token], columns: Collection[str]) -> tuple[str, str] | None:
    """The column and the end that an item names."""
    aliased = len(item) == 3 and item[1].token_type is TokenType.ALIAS and item[2].token_type in _NAMES
    if not (len(item) == 1 or aliased) or item[0].token_type not in _NAMES or item[0].text.lower() in columns:
        return None
    name, _, end = item[0].text.rpartition("_")
    return (name, end.lower()) if name and end.lower() in ENDS else None


def place_of(error: SqlglotError, text: str) -> int:
    """The character, from 1, where a parser's error is; 0: not known."""
    problems = getattr(error, "errors", None) or [{}]
    line, column = problems[0].get("line"), problems[0].get("col")
    if not line or column is None:
        return 0
    before = text.split("\n")[: line - 1]
    word = len(problems[0].get("highlight") or "")
    return max(sum(len(line) + 1 for line in before) + int(column) - word + 1, 1)
