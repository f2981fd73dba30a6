"""Checks whether a method fits a policy, by declarations alone.

It reports every problem at once, none of them with a value of the policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlanon.declared.candidates import complete, of_candidate, read_candidates, refuse_all
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import MethodsOption, Word
from sqlanon.declared.methods import METHODS
from sqlanon.declared.request import PERSONS, Refusal, Request
from sqlanon.declared.requirements import REQUIREMENTS
from sqlanon.declared.words import near
from sqlanon.lack import Lack
from sqlanon.spec import MethodSpec, ReleaseSpec, SuppressionSpec


def unknown_method(name: str) -> Refusal:
    """The message for a name that no method has; the name is not repeated."""
    return Refusal(f"there is no such method{near(name, METHODS)}", f"methods: {', '.join(METHODS)}")


def wrong_options(method: MethodDeclaration, options: Mapping[str, str]) -> list[Refusal]:
    """Options that a method does not have, and values that they do not take."""
    refusals = []
    for name, text in options.items():
        option = method.option(name)
        successor = next(
            (candidate for candidate in METHODS.values() if _replaces(candidate, method, name, text)), None
        )
        if successor is not None:
            what = f"{method.name} has this no longer: it is a method of its own"
            refusals.append(Refusal(what, f"method: {successor.name}", name))
            continue
        if option is None:
            option_names = [choice.name for choice in method.options]
            every = [
                f"{choice.name} ({' | '.join(choice.words) if isinstance(choice, Word) else choice.allowed})"
                for choice in method.options
            ]
            what = f"{method.name} has no such option{near(name, option_names)}"
            refusals.append(Refusal(what, f"options: {', '.join(every) or 'none'}", name))
            continue
        try:
            option.read(text)
            if isinstance(option, MethodsOption):
                refusals += _wrong_candidates(method, option, text)
        except ValueError as wrong:
            refusals.append(Refusal(str(wrong), option.allowed, name))
    return refusals


def _replaces(later: MethodDeclaration, method: MethodDeclaration, option: str, text: str) -> bool:
    """Whether a method is in the place of an option that another method had."""
    return later.after == method.name and bool(later.replaces) and later.replaces in ((option,), (option, text))


def _wrong_candidates(method: MethodDeclaration, option: MethodsOption, text: str) -> list[Refusal]:
    """Problems of the methods that an option names."""
    refusals = []
    for spec in read_candidates(text):
        declared = METHODS.get(spec.name)
        if declared is None:
            refused = unknown_method(spec.name)
            refusals.append(Refusal(refused.what, refused.allowed, option.name))
        elif any(isinstance(own_option, MethodsOption) for own_option in declared.options):
            refusals.append(Refusal(f"{method.name} does not run itself", "name other methods", option.name))
        elif declared.suppresses == "cap":
            what = f"{declared.name} hides values, and what it may hide is not said by {method.name}"
            refusals.append(Refusal(what, "use it by itself, or name other methods", option.name))
        else:
            for wrong in wrong_options(declared, spec.options):
                of_option = wrong.option and declared.option(wrong.option)
                what = f"{declared.name}: {wrong.option}: {wrong.what}" if of_option else wrong.what
                refusals.append(Refusal(what, wrong.allowed, option.name))
    return refusals


def collect_request(spec: ReleaseSpec, method: MethodDeclaration) -> Request:
    """Requests of a release to its method, if the method's options are valid."""
    privacy = spec.privacy
    return Request(
        method=method.name,
        options=method.values(spec.method.options),
        k=privacy.k,
        l=privacy.l,
        distinct_l=privacy.distinct_l,
        joint=privacy.joint,
        more=tuple(privacy.more),
        loose=tuple(
            name
            for name, value in privacy.more.items()
            if name in REQUIREMENTS and not REQUIREMENTS[name].unites(value)
        )
        + ((f"l of {PERSONS}",) if privacy.of_persons and privacy.l is not None and not privacy.whole else ()),
        population=tuple(name for name in privacy.more if name in REQUIREMENTS and REQUIREMENTS[name].population),
        maximize=privacy.accuracy.maximize if privacy.accuracy else None,
        quasi=len(spec.with_role("quasi")),
        sensitive=len(spec.with_role("sensitive")),
        named=tuple(column.name for column in spec.with_role("sensitive")),
        execution=spec.execution,
        format=spec.format.kind,
        suppression=spec.suppression.limit if spec.suppression and not spec.token else None,
        left_out=spec.suppression is not None and spec.suppression.rows == "left_out" and not spec.token,
        refine=spec.refine is not None,
        own_boxes=privacy.own_boxes,
        persons=privacy.of_persons,
        whole=privacy.whole,
        judged=tuple(
            f"{name} of {PERSONS}"
            for name in (*privacy.more, *(("l",) if privacy.joint and privacy.l is not None else ()))
            if privacy.of_persons and name in REQUIREMENTS and (name == "l" or REQUIREMENTS[name].of_persons)
        ),
        frozen=spec.refresh.frozen,
    )


def list_refusals(method: MethodDeclaration, request: Request) -> list[Refusal]:
    """Parts of a policy that a method does not take; empty if it takes all.

    The number of rows is not known yet: see `too_many_rows`.
    """
    refusals = _requirements(method, request) + _own_boxes(method, request)
    if method.formats is not None and request.format not in method.formats:
        what = f"{method.name} cannot be published in the format {request.format}: {method.other_formats.why}"
        refusals.append(Refusal(what, f"{method.name} goes with {_or(method.formats)}"))
    if not (refusals or method.pushdown) and request.execution == "pushdown":
        has = f"leave execution out (auto), or say {_or(method.executions)}"
        refusals.append(Refusal(f"{method.name} has no pushdown: {method.pushdown.why}", has))
    for limit in method.limits:
        if limit.of == "quasi columns" and (refused := limit.refusal(request.method, request.options, request.quasi)):
            refusals.append(refused)
    # A part missing as a whole makes the finer rules pointless.
    refusals = refusals or [refused for rule in method.rules if (refused := rule(request))]
    for option in method.options:
        if isinstance(option, MethodsOption) and not refusals:
            able, reasons = able_of(str(request.options[option.name]), request)
            refusals += [] if able else [refuse_all(method.name, reasons)]
    return refusals


def _own_boxes(method: MethodDeclaration, request: Request) -> list[Refusal]:
    """Problems of boxes of their own, which are weaker than classes.

    The policy has to accept them, and no other method makes them.
    """
    if method.own_boxes == request.own_boxes:
        return []
    if method.own_boxes:
        what = (
            f"{method.name} gives every row a box of its own: k rows fit it, and it is in no class of k rows, so that "
            "one known match helps against others"
        )
        return [Refusal(what, "say privacy: {boxes: own} to accept that, or use tree")]
    makers = [maker.name for maker in METHODS.own if maker.own_boxes]
    return [Refusal(f"{method.name} makes classes, not boxes of their own", f"leave boxes out, or use {_or(makers)}")]


def able_of(text: str, request: Request) -> tuple[list[MethodSpec], list[tuple[MethodSpec, str]]]:
    """The methods of a text that can meet the policy, each once, as they are run, and the others with the reason."""
    able, reasons, tried = [], [], []
    for spec in read_candidates(text):
        declared = METHODS[spec.name]
        completed = complete(spec, declared, diverse=request.diverse)
        whole = (spec.name, declared.values(completed.options))
        if whole in tried:  # it was named with another spelling of its options
            continue
        tried.append(whole)
        refused = list_refusals(declared, of_candidate(request, completed, declared))
        if refused:
            reasons.append((completed, "; ".join(map(str, refused))))
        else:
            able.append(completed)
    return able, reasons


def refuse_suppression(method: MethodDeclaration, suppression: SuppressionSpec | None) -> Refusal | None:
    """Why a method does not take a policy's suppression; None where it does."""
    if suppression is None or method.suppresses == "rows":
        return None
    if method.suppresses == "cap" and suppression.rows == "starred":
        return None
    if not isinstance(method.suppresses, Lack):
        what = f"{method.name} hides values and leaves no row out"
        return Refusal(what, "say rows: starred; limit then caps the rows that lose every quasi value")
    takers = [taker.name for taker in METHODS.own if taker.suppresses == "rows"]
    what = f"{method.name} suppresses no rows: {method.suppresses.why}"
    return Refusal(what, f"leave suppression out, or use {_or(takers)}")


def limit_suppressed(spec: ReleaseSpec, rows: int) -> int:
    """Rows that may be suppressed of so many, by the policy, or by the method where the policy has no word on it."""
    if spec.suppression is not None:
        return spec.suppression.most(rows)
    method = METHODS.get(spec.method.name)
    return rows if method is not None and method.suppresses == "cap" else 0


def _requirements(method: MethodDeclaration, request: Request) -> list[Refusal]:
    name = method.name
    if request.maximize is not None:
        if method.maximizes and request.maximize in method.maximizes:
            return []
        why = f": {method.maximizes.why}" if isinstance(method.maximizes, Lack) else ""
        what = f"{name} does not maximize {request.maximize}{why}"
        return [Refusal(what, f"maximize {request.maximize} with {method.instead}")]
    if request.persons and not method.persons:
        takers = [name for name, kind in METHODS.items() if kind.persons and METHODS.believes(name)]
        return [Refusal(f"{name} does not count persons: {method.persons.why}", f"with {PERSONS} use {_or(takers)}")]
    if request.whole and not method.whole:
        keepers = [name for name, kind in METHODS.items() if kind.whole and METHODS.believes(name)]
        what = f"{name} does not keep the rows of a person together: {method.whole.why}"
        return [Refusal(what, f"with persons: whole use {_or(keepers)}, or say persons: rows")]
    takes = method.requirements
    if takes is None:
        # Kernels and set-oriented SQL take whatever can be counted.
        uncounted = [
            word
            for word in request.requirements
            if word != PERSONS
            and not REQUIREMENTS[word].tally
            and not (method.population and word in request.population)
        ]
        refusals = [_refuse_uncounted(method, word) for word in uncounted]
        if method.unites:
            what = "classes that it unites may not meet what each of them meets"
            refusals += [Refusal(f"{name} and {word}: {what}", f"use {method.instead}") for word in request.loose]
        return refusals
    over = [word for word in request.requirements if word not in takes]
    if not over:
        return []
    if set(over) <= set(request.population):
        return [_refuse_uncounted(method, word) for word in over]
    what = f"{name} is for {_and(takes)}{' alone' if len(takes) == 1 else ''}: {method.other_requirements.why}"
    return [Refusal(what, f"with {_and(over)} use {method.instead}")]


def _refuse_uncounted(method: MethodDeclaration, requirement: str) -> Refusal:
    """A method has no way to count a requirement."""
    declared, takers = REQUIREMENTS[requirement], _takers(requirement)
    lacks = [declared.tally, *([method.population] if declared.population else [])]
    why = ", and ".join(lack.why for lack in lacks if isinstance(lack, Lack))
    return Refusal(
        f"{method.name} cannot count {requirement}: {why}", f"use {_or(takers)}" if takers else "leave it out"
    )


def too_many_rows(method: MethodDeclaration, options: Mapping[str, str], rows: int) -> Refusal | None:
    """Why a method does not take a table of so many rows; None where it does."""
    values = method.values(options)
    refused = (limit.refusal(method.name, values, rows, options) for limit in method.limits if limit.of == "rows")
    return next((refusal for refusal in refused if refusal is not None), None)


def _takers(requirement: str) -> list[str]:
    """Methods that name a requirement that they meet, or say that they take that kind."""
    of_population = REQUIREMENTS[requirement].population
    return [
        f"{name} with search: global" if of_population and method.population else name
        for name, method in METHODS.items()
        if requirement in (method.requirements or ()) or (of_population and method.population)
    ]


def _and(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _or(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
