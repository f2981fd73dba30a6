"""Read a source, and decide whether it can be released: snapshot, guards, domains, feasibility.

Nothing is published here.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from sqlanon.declared.effort import SEVERAL_UP_TO
from sqlanon.engines.base import Relation
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PolicyError
from sqlanon.formats import format_of
from sqlanon.methods.base import Problem
from sqlanon.methods.method import method_of
from sqlanon.methods.shared.exact_values import read_measures
from sqlanon.privacy.population import of_rows
from sqlanon.privacy.requirements import make_requirements
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import now
from sqlanon.release.catalog.entry import SourceState
from sqlanon.release.catalog.refresh import read_fingerprint
from sqlanon.release.prepare.guards import (
    check_feasible,
    guard_combinations,
    guard_format,
    guard_insensitive,
    guard_loss_limit,
    guard_sensitive,
    guard_sets,
    guard_source,
    guard_values,
)
from sqlanon.release.prepare.key import check_key, key_columns
from sqlanon.release.prepare.population import feasible_in, population_of
from sqlanon.release.prepare.row_security import source_snapshot
from sqlanon.release.prepare.staged_source import PreparedSource, Reading, StagedSource, UnchangedSource, Units
from sqlanon.release.prepare.width_limits import guard_columns, guard_texts
from sqlanon.release.prepare.workplace import IN_DATABASE, choose_workplace
from sqlanon.release.verify.persons import feasible_persons
from sqlanon.spec import ReleaseSpec
from sqlanon.table import pseudonyms
from sqlanon.table.domain import Domain
from sqlanon.table.domains import build_domains
from sqlanon.table.population import count_population, stage_population
from sqlanon.table.reading import Roles
from sqlanon.table.roles import assign_roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import StagedHashes, refuse_overflow, take_stage
from sqlanon.table.staged_enums import make_enum_types


def read_source(
    scratch: Scratch, spec: ReleaseSpec, source: Relation, watch: Stopwatch, how: Reading
) -> StagedSource | UnchangedSource:
    """Read a source once into a scratch table, under the guards that need no domains.

    Raises:
        PolicyError, GuardError: roles, types or guards stop it.
    """
    roles = assign_roles(spec, source)
    guard_format(spec, roles)
    guard_combinations(spec)
    persons = roles.list_counted(spec) if spec.rows_are == "events" else ()
    requirements = make_requirements(
        spec.privacy,
        tuple(reading.name for reading in roles.sensitive),
        tuple(person.name for person in persons),
        spec.columns,
    )
    key, secret = key_columns(spec, roles), how.secret
    token_keys = pseudonyms.make_keys(spec, how.tokens)
    started = now()
    with (
        watch.stage("snapshot"),
        nullcontext() if how.held else source_snapshot(scratch.engine, [(spec, source.ref)], planned=how.planned),
    ):
        people = population_of(scratch.engine, spec, roles)
        known_mark, fingerprint = how.find_known_mark(source.snapshot), None
        if known_mark is None:
            fingerprint = read_fingerprint(scratch, roles, key, secret)
        mark, many = known_mark if fingerprint is None else fingerprint[1], 0
        if people is not None:
            many, people_mark, _ = read_fingerprint(scratch, people, (), secret)
            mark = f"{mark} in {people_mark}"
        if token_keys and not spec.rotates:  # those are new in every run
            mark = f"{mark} by {pseudonyms.mark(token_keys, secret)}"
        column_types = tuple((column.name, column.shown_type) for column in roles.relation.columns)
        source_state = SourceState(str(mark), column_types, started, source.snapshot)
        if mark == how.same_as:
            return UnchangedSource(source_state)
        rows, _, texts = fingerprint or read_fingerprint(scratch, roles, key, secret)
        if not roles.relation.is_view and (
            people is None or not people.relation.is_view
        ):  # however few rows a view has, its tables may be large
            scratch.expect(rows + many)
        guard_texts(scratch, spec, rows, texts, spec.memory or how.memory)
        refuse_overflow(scratch, spec, roles)
        place = None
        if people is None:
            place = choose_workplace(scratch.engine, spec, roles, requirements, (rows, texts), how.bringing)
        roles, dense = make_enum_types(scratch, roles, rows, exact=format_of(spec.format.kind).facts.exact)
        links = link_columns(roles, spec) if how.links is None else list(how.links)
        hashes = StagedHashes(
            secret, key, persons, persons[0] if (how.lasting or how.owned) and persons else None, token_keys
        )
        if place is not None:
            stage = place.stage(scratch, roles, links, hashes)
        else:
            linked = roles.link_by_hash(links)
            roles = linked if scratch.engine.capabilities.staged_hashes else replace(roles, linked=linked.link)
            stage = take_stage(scratch, roles, links, hashes, dense=dense, rows=rows)
        beside = stage_population(scratch, people, many) if people is not None else None
        if rows:
            guard_source(scratch, spec, roles, rows, needs_key=how.lasting)
            if key and not how.follows:
                check_key(scratch, spec, stage, needed=how.lasting)
    scratch.expect(rows + many)
    return StagedSource(
        spec,
        roles,
        stage,
        rows,
        source_state,
        persons,
        requirements,
        bool(key),
        people,
        beside,
        how.lasting,
        place or IN_DATABASE,
    )


def profile(
    scratch: Scratch,
    staged: StagedSource,
    units: Units,
    watch: Stopwatch,
    *,
    memory: int,
    part: bool = False,
    judged: bool = True,
) -> PreparedSource:
    """Find the domains of a staged source, and decide whether a release of it can be made.

    ``units``: the units that the method divides; ``memory``: bytes for the kernels; ``part``: the rows are some of the
    source's, so that a column with many values there may have few in all, and a value that a requirement lists may
    occur in others. ``judged``: False where no method is to run, and the columns alone are of interest.
    """
    spec, roles, stage, rows = staged.spec, staged.roles, staged.stage, staged.rows
    persons, requirements = staged.persons, staged.requirements
    workers = scratch.engine.workers
    method = method_of(spec).of_table(large=rows > (SEVERAL_UP_TO if workers is None else workers.above))
    with watch.stage("profile"):
        reached = (
            check_feasible(
                scratch, spec, stage, roles, of_rows(requirements), rows, [person.alias for person in persons]
            )
            if judged
            else ()
        )
        if judged and not spec.privacy.of_persons:  # where a requirement counts them, it said so
            reached += feasible_persons(scratch, spec, stage, persons)
        coded = persons if any(requirement.counts_persons for requirement in requirements) else ()
        domains = build_domains(scratch, roles, stage, coded, staged.beside)
        quasi, sensitive = domains.quasi, domains.sensitive
        if not part:
            guard_insensitive(scratch, spec, staged)
            guard_sensitive(scratch, spec, staged, sensitive)
            guard_values(scratch, spec, sensitive, requirements)
        guard_sets(scratch, spec, staged, quasi, part=part)
        if judged:
            guard_columns(scratch, spec, quasi)
            guard_loss_limit(spec, quasi)
        population = None
        if staged.people is not None and staged.beside is not None:
            population = count_population(scratch, roles, staged.people, (stage, staged.beside), quasi)
            reached += feasible_in(spec, requirements, rows, population)
        problem = Problem(
            units.requirements_of(requirements),
            spec.privacy.accuracy,
            quasi,
            sensitive,
            rows,
            spec.execution,
            lambda domain: _occurrences(scratch, domain),
            lambda domain: None not in read_measures(scratch, domain).values,
            spec.memory or memory,
            units.codes(domains.persons),
        )
        refused = method.refusal(problem) if judged else None
        if refused:
            raise PolicyError(refused)
        layout = format_of(spec.format.kind).layout(roles, quasi, spec.format)
        layout.check(scratch.engine.capabilities.max_identifier)
    return PreparedSource(
        roles,
        stage,
        rows,
        domains,
        requirements,
        reached,
        method,
        persons,
        staged.source,
        staged.keyed,
        population,
        staged.lasting,
        staged.place,
    )


def _occurrences(scratch: Scratch, domain: Domain) -> list[int]:
    statement = scratch.sql("table/domain_counts", domains=[domain.table])
    rows = scratch.engine.fetch(statement, max_rows=50_000_000)
    return [n for _, n in sorted((read_integer(code), read_integer(n)) for _, code, n in rows)]


def link_columns(roles: Roles, spec: ReleaseSpec) -> list[str]:
    """The columns hashed to tie released rows to source rows: the identifiers, or all columns where those repeat."""
    names = [column.name for column in roles.identifiers]
    unique = spec.rows_are == "persons" and any(not item.accept_repeats for item in roles.identifier_specs)
    return names if unique else [column.name for column in roles.relation.columns]
