"""``sqlanon compare``: candidate releases of a source side by side, none of them published."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.arguments import parse_names
from sqlanon.cli.new_file import ensure_new, write_new
from sqlanon.cli.options import POLICY, Db, PolicyFile, find_url, flag, load, open_database, option, pick
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.results import NoisyCandidatesReport

MOST = 60
"""Candidates, at most."""


def compare(
    screen: Screen,
    release: Annotated[
        str | None, typer.Argument(show_default=False, help="The release; needed where the policy has several.")
    ] = None,
    k: Annotated[
        list[str] | None, option("--k", "NUMBERS", "Values of k, such as 5,10,20 (default: the policy's).")
    ] = None,
    method: Annotated[
        list[str] | None, option("--method", "NAMES", "Methods, such as tree,mondrian (default: the policy's).")
    ] = None,
    refine: Annotated[bool, flag("--refine", "Try each with a local pass as well.")] = False,
    target: Annotated[
        str | None,
        option("--target", "COLUMN", "A column published as it is, which a model learns from each candidate."),
    ] = None,
    workload: Annotated[
        Path | None,
        option(
            "--workload",
            "FILE",
            "Measure how wide the answers to these queries are (default: random counts).",
            short="-w",
        ),
    ] = None,
    control: Annotated[float, typer.Option("--control", metavar="SHARE", help="Persons that are held out.")] = 0.2,
    seed: Annotated[
        int | None, option("--seed", "N", "Draw the same again (default: from the operating system).")
    ] = None,
    write: Annotated[
        Path | None, option("--write", "FILE", "Write the candidate of --choose as a policy, to a new file.")
    ] = None,
    choose: Annotated[
        int | None, option("--choose", "N", "With --write: the number of a candidate; it alone is tried.")
    ] = None,
    epsilon: Annotated[
        list[str] | None,
        option("--epsilon", "NUMBERS", "Noisy statistics: epsilons of a version, as 0.5,1,4 (default: the policy's)."),
    ] = None,
    alone: Annotated[bool, flag("--alone", "Noisy statistics: try each table by itself as well.")] = False,
    html: Annotated[Path | None, option("--html", "FILE", "Write table and picture to a new file.")] = None,
    policy: PolicyFile = None,
    db: Db = None,
) -> int | None:
    """Compare candidate releases, made in scratch: loss, width of answers, accuracy of a model, and risk.

    Nothing is published.
    """
    from sqlanon.policy import Choice, choose_policy

    if (write is None) != (choose is None):
        raise PolicyError("compare: --write FILE and --choose N go together")
    if workload is not None and not workload.is_file():
        raise PolicyError(f"no workload file {workload}")
    for file in (write, html):
        if file is not None:
            ensure_new(file)
    spec = load(policy, db)
    releases = pick(spec, [release] if release else None, "")
    if len(releases) != 1:
        raise PolicyError(
            f"compare tries one release, and the policy has several: {', '.join(item.name for item in releases)}"
        )
    (base_spec,) = releases
    noise = parse_names("--epsilon", epsilon)
    if noise or alone:
        about_rows = {
            "--k": k,
            "--method": method,
            "--refine": refine,
            "--target": target,
            "--workload": workload,
            "--seed": seed,
        }
        wrong = [name for name, about_row in about_rows.items() if about_row]
        if wrong:
            raise PolicyError(
                f"compare {base_spec.name}: {', '.join(wrong)}: about releases of rows; --epsilon and --alone are "
                "about noisy statistics"
            )
        from sqlanon.evaluate.noisy_candidates import read_epsilons

        epsilons = read_epsilons(noise)
        with open_database(find_url(db, spec), screen, read_only=True) as connected:
            noisy_report = connected.compare_noisy(base_spec, epsilons, alone=alone)
        if write is not None and choose is not None:
            write_new(write, choose_candidate(policy or POLICY, noisy_report, choose), private=True)
        if html is not None:
            from sqlanon.report.noisy_candidates import draw_noisy_candidates

            write_new(html, draw_noisy_candidates(noisy_report))
        show_noise(screen, noisy_report)
        return 0
    sizes = _numbers(parse_names("--k", k)) or (base_spec.privacy.k,)
    methods = parse_names("--method", method) or (base_spec.method.name,)
    passes = (False, True) if refine else (False,)
    choices = [Choice(size, name, again) for size in sizes for name in methods for again in passes]
    if len(choices) > MOST:
        raise PolicyError(f"compare: {len(choices)} candidates, more than {MOST}; name fewer")
    policies = [choose_policy(policy or POLICY, base_spec.name, choice) for choice in choices]
    if choose is not None and write is not None:
        if not 1 <= choose <= len(choices):
            raise PolicyError(f"compare: --choose {choose}: a candidate from 1 to {len(choices)}")
        policies = [policies[choose - 1]]
    specs = [next(item for item in each.releases if item.name == base_spec.name) for _, each in policies]
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        report = connected.compare(specs, control=control, seed=seed, target=target, workload=workload)
    if write is not None and choose is not None:
        (tried,) = report.candidates
        if tried.refused is not None:
            raise PolicyError(f"compare: --choose {choose}: not possible, nothing is written: {tried.refused}")
        report = replace(report, candidates=(replace(tried, number=choose),))
        write_new(write, policies[0][0], private=True)  # the connection may have a password
    if html is not None:
        from sqlanon.report.candidates import draw_candidates

        write_new(html, draw_candidates(report))
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.compare import candidates_report

        candidates_report(screen, report)
    return 0


def choose_candidate(policy: Path, report: NoisyCandidatesReport, number: int) -> str:
    """The policy file with a candidate of noisy statistics.

    Raises:
        PolicyError: there is no such candidate, or it is not possible.
    """
    from sqlanon.policy import choose_noise

    if not 1 <= number <= len(report.candidates):
        raise PolicyError(f"compare: --choose {number}: a candidate from 1 to {len(report.candidates)}")
    candidate = report.candidates[number - 1]
    if candidate.refused is not None:
        raise PolicyError(f"compare: --choose {number}: not possible, nothing is written: {candidate.refused}")
    places = [place for place, error in enumerate(candidate.errors) if error is not None]
    return choose_noise(
        policy, report.release, candidate.epsilon, None if len(places) == len(candidate.errors) else places
    )


def show_noise(screen: Screen, report: NoisyCandidatesReport) -> None:
    """Show candidates of noisy statistics."""
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.compare import noisy_candidates_report

        noisy_candidates_report(screen, report)


def _numbers(texts: tuple[str, ...]) -> tuple[int, ...]:
    bad = [text for text in texts if not text.isdecimal() or int(text) < 1]
    if bad:
        raise PolicyError("compare: --k: whole numbers of at least 1, such as 5,10,20")
    return tuple(dict.fromkeys(int(text) for text in texts))
