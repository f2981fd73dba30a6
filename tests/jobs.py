"""Jobs of the thorough run: what has a machine of its own, and the core that every change runs.

    python3 dev.py test --thorough --job core       what .ci/run runs after the default tests
    python3 dev.py test --thorough --job spark      one of `JOBS`; without --job all of them run

No job runs what the default run does, but tests over tables that hypothesis draws: a job draws more of them.
A job takes folders and files whose tests start servers, environments or long computations; a few short ones of each
stay in the core.
"""

from __future__ import annotations

from collections.abc import Mapping

CORE = "core"
JOBS: Mapping[str, tuple[str, ...]] = {
    "spark": ("tests/spark/",),
    "dbt": ("tests/dbt/",),
    "papers": ("tests/benchmarks/", "tests/paper/"),
    "answers": (
        "tests/contract/test_freeform_shown.py",
        "tests/contract/test_query_aggregates.py::test_bounds_hold_in_every_consistent_source[",
        "tests/contract/test_query_aggregates.py::test_bounds_hold_in_every_consistent_source_of_many",
        "tests/contract/test_query_aggregates.py::test_bounds_of_many_quotients_and_cases_hold",
        "tests/contract/test_query_aggregates.py::test_more_counts_and_shares_are_as_narrow_as_possible",
        "tests/contract/test_query_aggregates.py::test_more_counts_of_mixed_conditions_are_as_narrow_as_possible",
        "tests/contract/test_query_aggregates.py::test_more_groups_by_conditions_hold",
        "tests/contract/test_query_averages.py",
        "tests/contract/test_query_candidates.py::test_more_counts_hold_over_all_graphs_of_candidates",
        "tests/contract/test_query_functions.py",
        "tests/contract/test_query_interval.py",
        "tests/contract/test_query_keys.py",
        "tests/contract/test_query_ratio.py",
        "tests/contract/test_query_types.py",
        "tests/contract/test_starred_query.py",
        "tests/contract/test_unassigned_query.py",
        "tests/oracle/test_ends_beside_null.py",
        "tests/oracle/test_query.py",
        "tests/oracle/test_query_attained.py",
        "tests/oracle/test_query_statements.py",
        "tests/oracle/test_query_words.py",
    ),
    "files": (
        "tests/cli/test_bounded_files.py",
        "tests/contract/test_files_headers.py",
        "tests/contract/test_files_texts.py",
    ),
    "histories": ("tests/contract/test_stages_combined.py", "tests/frozen/", "tests/refresh/"),
    "methods": (
        "tests/cli/test_bad_methods.py",
        "tests/cli/test_sheet.py",
        "tests/contract/test_anatomy.py",
        "tests/contract/test_annealed.py",
        "tests/contract/test_best.py",
        "tests/contract/test_compared_with_source.py::test_more_worlds",
        "tests/contract/test_divergence.py",
        "tests/contract/test_extents.py",
        "tests/contract/test_freeform.py",
        "tests/contract/test_freeform_uncertified.py",
        "tests/contract/test_generalized.py",
        "tests/contract/test_least_gcp.py",
        "tests/contract/test_listed.py",
        "tests/contract/test_methods.py",
        "tests/contract/test_metrics.py",
        "tests/contract/test_models.py",
        "tests/contract/test_sets.py",
        "tests/extend/",
        "tests/properties/test_kernel.py",
        "tests/properties/test_laws.py",
    ),
    "persons": (
        "tests/contract/test_init_persons.py",
        "tests/contract/test_person_joint.py",
        "tests/contract/test_person_models.py",
        "tests/contract/test_person_rows.py",
        "tests/contract/test_person_whole.py",
        "tests/contract/test_persons_together.py",
        "tests/contract/test_population.py",
        "tests/contract/test_population_left_out.py::test_more_worlds",
        "tests/risk/",
    ),
    "searches": (
        "tests/contract/test_blocks.py",
        "tests/contract/test_dual.py",
        "tests/contract/test_dual_types.py",
        "tests/contract/test_fulldomain.py",
        "tests/contract/test_fulldomain_local.py",
        "tests/contract/test_refine.py",
        "tests/properties/test_clusters.py",
    ),
    "statistics": (
        "tests/contract/test_statistics_hospital.py",
        "tests/contract/test_statistics_lineages.py",
        "tests/contract/test_statistics_persons_promised.py",
        "tests/contract/test_statistics_persons_together.py",
        "tests/contract/test_statistics_together_versions.py",
        "tests/contract/test_statistics_versions.py",
        "tests/unit/cells/test_bounds.py",
        "tests/unit/cells/test_lineages.py",
        "tests/unit/cells/test_must_show.py",
        "tests/unit/cells/test_nights.py",
        "tests/unit/cells/test_nights_rows.py",
        "tests/unit/cells/test_nights_rule.py",
        "tests/unit/cells/test_nights_show.py",
        "tests/unit/cells/test_nights_sums.py",
        "tests/unit/cells/test_of_versions.py",
        "tests/unit/cells/test_parts.py",
        "tests/unit/cells/test_persons_beside.py",
        "tests/unit/cells/test_persons_promised.py",
        "tests/unit/cells/test_sums_beside.py",
        "tests/unit/cells/test_traces.py",
    ),
    "install": (
        "tests/cli/test_warm.py",
        "tests/docs/test_commands.py",
        "tests/docs/test_transcripts.py",
        "tests/project/test_cache.py",
        "tests/project/test_container.py",
        "tests/project/test_dev.py",
        "tests/project/test_shipped.py",
        "tests/project/test_wheel.py",
    ),
    "load": ("tests/serve/test_load.py::test_ten_thousand_asks",),
    "kills": (
        "tests/contract/test_lake_killed.py::test_the_same_of_kills_at_every_step",
        "tests/contract/test_lake_kinds.py::test_tables_of_one_release_are_all_of_one_version_after_a_kill",
        "tests/contract/test_publish_to_lost.py::test_a_process_that_is_killed",
        "tests/contract/test_publish_to_lost.py::test_the_same_of_kills_at_many_steps",
        "tests/safety/test_budget.py",
        "tests/safety/test_budget_apart.py::test_a_run_killed_before_many_changes",
        "tests/safety/test_budget_nights.py::test_nights_that_are_killed",
        "tests/safety/test_compact_file.py",
        "tests/safety/test_compact_killed.py",
        "tests/safety/test_crash.py",
        "tests/safety/test_crash_frozen.py",
        "tests/safety/test_crash_readers.py",
        "tests/safety/test_crash_tables.py",
        "tests/safety/test_crash_trials.py",
        "tests/safety/test_dropped_meanwhile.py",
        "tests/safety/test_weakest.py",
        "tests/safety/test_weakest_counts.py",
    ),
}
"""Beginnings of test ids."""
SHORT: tuple[str, ...] = (
    "tests/contract/test_compared_with_source.py::test_more_worlds[duckdb-2-",
    "tests/contract/test_compared_with_source.py::test_more_worlds[postgres-3-",
    "tests/contract/test_dual.py::test_bound_holds_on_both_engines[mixed-ncp0-",
    "tests/contract/test_freeform_shown.py::test_tight_bounds_are_reached_by_sources",
    "tests/contract/test_freeform_shown.py::test_words_on_the_screen_are_of_candidates",
    "tests/contract/test_lake_kinds.py::test_tables_of_one_release_are_all_of_one_version_after_a_kill[iceberg-1",
    "tests/contract/test_methods.py::test_means_equal_oracle",
    "tests/contract/test_person_rows.py::test_every_class_holds_over_persons_and_over_rows",
    "tests/contract/test_population_left_out.py::test_more_worlds[duckdb-10-",
    "tests/contract/test_population_left_out.py::test_more_worlds[postgres-20-",
    "tests/contract/test_publish_to_lost.py::test_a_process_that_is_killed[duckdb-postgres-send",
    "tests/contract/test_publish_to_lost.py::test_the_same_of_kills_at_many_steps[run-postgres-duckdb-",
    "tests/contract/test_query_aggregates.py::test_bounds_hold_in_every_consistent_source[duckdb-sum]",
    "tests/contract/test_query_aggregates.py::test_bounds_hold_in_every_consistent_source[postgres-count]",
    "tests/contract/test_query_functions.py::test_values_lie_in_the_abstract_value",
    "tests/contract/test_statistics_hospital.py::test_the_tables_of_a_hospital_are_certified[duckdb]",
    "tests/contract/test_statistics_lineages.py::test_three_lineages[duckdb",
    "tests/contract/test_statistics_persons_promised.py::test_the_certificate_refuses[duckdb-",
    "tests/contract/test_statistics_persons_together.py::test_persons_of_one_row_each[duckdb-",
    "tests/contract/test_statistics_together_versions.py::test_the_certificate_refuses[duckdb-",
    "tests/contract/test_statistics_versions.py::test_the_certificate_of_all_versions_refuses[postgres-",
    "tests/dbt/test_package.py",
    "tests/frozen/test_engines.py::test_versions_are_those_of_the_model[duckdb-2",
    "tests/frozen/test_engines.py::test_versions_are_those_of_the_model[postgres-3",
    "tests/oracle/test_query_words.py::test_more_answers_hold[duckdb-0]",
    "tests/oracle/test_query_words.py::test_more_answers_hold[postgres-1]",
    "tests/safety/test_budget_apart.py::test_a_run_killed_before_many_changes[5-",
    "tests/safety/test_budget_nights.py::test_nights_that_are_killed_on_a_server",
    "tests/safety/test_crash_readers.py",
    "tests/spark/test_appending.py",
    "tests/spark/test_workers.py",
    "tests/unit/cells/test_bounds.py::test_rows_beside[",
    "tests/unit/cells/test_lineages.py::test_no_reader_of_lineages_finds_few_newcomers[",
    "tests/unit/cells/test_must_show.py::test_no_reader_finds_a_small_cell_of_two_columns",
    "tests/unit/cells/test_nights.py::test_no_reader_of_three_nights",
    "tests/unit/cells/test_nights_rows.py::test_no_reader_of_rows_and_versions_finds_few_persons[",
    "tests/unit/cells/test_nights_sums.py::test_nobody_finds_newcomers_of_two_nights",
    "tests/unit/cells/test_parts.py::test_no_reader_of_both_finds_a_small_cell[",
    "tests/unit/cells/test_persons_beside.py::test_no_reader_of_both_finds_a_small_cell[drawn10",
    "tests/unit/cells/test_persons_beside.py::test_nobody_who_is_alone_finds_another_small_cell[drawn2",
    "tests/unit/cells/test_persons_promised.py::test_no_reader_of_both_finds_a_small_cell[drawn10",
    "tests/unit/cells/test_persons_promised.py::test_witnesses_keep_the_promise[drawn2",
    "tests/unit/cells/test_traces.py::test_no_reader_finds_a_small_cell[",
)
"""What the core has of the other jobs."""


def is_of(job: str, name: str) -> bool:
    """Whether a thorough test, by its id, is of a job.

    Args:
        job: one of `JOBS`, or `CORE`.
        name: the id.
    """
    if job == CORE:
        return name.startswith(SHORT) or not any(name.startswith(starts) for starts in JOBS.values())
    return name.startswith(JOBS[job])
