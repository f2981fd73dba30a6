"""The functions that questions to the catalog may call: those of PostgreSQL's catalog, and plain ones."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

PLAIN = frozenset(
    """
    abs array_agg array_length array_position array_to_string avg bool_and bool_or btrim cardinality ceil
    char_length coalesce concat concat_ws count current_schemas date_trunc dense_rank floor generate_subscripts
    greatest json_build_object least left length lower ltrim max md5 min nullif rank regexp_replace
    replace right round row_number rtrim split_part string_agg string_to_array strpos substr substring sum
    to_char trim upper
    """.split()  # noqa: SIM905 - fifty words
)
"""Functions that are answered besides those that this file makes."""

RENAMED = {"json_build_object": "json_object", "string_to_array": "string_split", "char_length": "length"}
"""Functions that have another name in memory."""

_CONSTANTS = {
    "NULL::VARCHAR": """
        pg_get_expr/3 pg_get_constraintdef/2 pg_get_indexdef/3 pg_get_viewdef/2 pg_get_ruledef/2 pg_get_triggerdef/2
        pg_get_partkeydef/1 pg_get_function_result/1 pg_get_function_arguments/1 pg_get_functiondef/1
        pg_get_function_identity_arguments/1 pg_get_serial_sequence/2 pg_get_statisticsobjdef_columns/1
        shobj_description/2 pg_tablespace_location/1 pg_sequence_last_value/1 inet_server_addr/0 inet_client_addr/0
        inet_server_port/0 inet_client_port/0 pg_advisory_unlock_all/0 pg_get_function_sqlbody/1
        pg_get_statisticsobjdef/1 pg_get_partition_constraintdef/1 txid_current_if_assigned/0
        pg_last_wal_receive_lsn/0 pg_last_wal_replay_lsn/0
    """,
    "TRUE": """
        pg_table_is_visible/1 pg_type_is_visible/1 pg_function_is_visible/1 pg_collation_is_visible/1
        pg_operator_is_visible/1 pg_opclass_is_visible/1 pg_opfamily_is_visible/1 pg_conversion_is_visible/1
        pg_statistics_obj_is_visible/1 pg_ts_config_is_visible/1 pg_ts_dict_is_visible/1 pg_ts_parser_is_visible/1
        pg_ts_template_is_visible/1
    """,
    "FALSE": "pg_relation_is_publishable/1 pg_is_other_temp_schema/1 pg_is_in_recovery/0",
    "0::UINTEGER": "pg_my_temp_schema/0",
    "0::BIGINT": """
        pg_stat_get_numscans/1 pg_stat_get_live_tuples/1 pg_stat_get_dead_tuples/1 pg_stat_get_tuples_returned/1
        pg_relation_size/2 pg_total_relation_size/1 pg_table_size/1 pg_indexes_size/1 pg_database_size/1
    """,
    "'UTF8'": "pg_encoding_to_char/1 getdatabaseencoding/0 pg_client_encoding/0",
    "6": "pg_char_to_encoding/1",
    "'0 bytes'": "pg_size_pretty/1",
    "'sqlanon'": "pg_get_userbyid/1",
    "TIMESTAMPTZ '2000-01-01 00:00:00+00'": "pg_postmaster_start_time/0 pg_conf_load_time/0",
}
"""Constant results of functions, with the most arguments that they take."""

_PRIVILEGES = """
    has_table_privilege has_any_column_privilege has_column_privilege has_schema_privilege has_database_privilege
    has_function_privilege has_type_privilege has_language_privilege has_sequence_privilege has_tablespace_privilege
    has_server_privilege has_foreign_data_wrapper_privilege pg_has_role
""".split()  # noqa: SIM905 - a dozen words
"""Functions of which the last argument is a right: everybody has those to look."""

_NAME = re.compile(r"CREATE MACRO fn\.(\w+)")


@cache
def names() -> frozenset[str]:
    """The functions that are made here, in the schema fn."""
    return frozenset(_NAME.findall(" ".join(definitions())))


@cache
def definitions() -> tuple[str, ...]:
    """Statements that make them; those of the file end a line with a semicolon."""
    text = (files("sqlanon.serve.catalog") / "functions.sql").read_text(encoding="utf-8")
    macros = [part for part in text.split(";\n") if part.strip()]
    for value, listed in _CONSTANTS.items():
        for function in listed.split():
            name, _, most = function.partition("/")
            macros.append(f"CREATE MACRO fn.{name}({_parameters(0, int(most))}) AS {value}")
    for name in _PRIVILEGES:
        right = "upper(coalesce(p3, p2, p1, p0)) IN ('SELECT', 'USAGE', 'CONNECT', 'MEMBER', 'EXECUTE')"
        macros.append(f"CREATE MACRO fn.{name}({_parameters(2, 4)}) AS {right}")
    return tuple(macros)


def _parameters(least: int, most: int) -> str:
    return ", ".join(f"p{i}" if i < least else f"p{i} := NULL" for i in range(most))
