"""Settings of a session: no default that an owner of the database left may change the meaning of generated SQL."""

from __future__ import annotations

SETTINGS = (
    # Settings of the database, of the role or of the URL may make the session another role: new tables would belong
    # to that role, and its members could read them.
    "SET SESSION AUTHORIZATION DEFAULT",
    "SET ROLE NONE",
    "SET statement_timeout = 0",
    # A kernel works for minutes between two statements of a transaction.
    "SET lock_timeout = 0",
    "SET idle_session_timeout = 0",
    "SET idle_in_transaction_session_timeout = 0",
    # Meaning of generated SQL, and values as text (which links and fingerprints hash), whatever role or database set.
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET transform_null_equals = off",
    "SET array_nulls = on",
    "SET quote_all_identifiers = off",
    "SET row_security = on",
    "SET intervalstyle = 'postgres'",
    "SET bytea_output = 'hex'",
    "SET xmlbinary = 'base64'",
    # The secret of the keyed hashes is a parameter.
    "SET log_parameter_max_length_on_error = 0",
    "SET work_mem = '256MB'",
    "SET temp_buffers = '256MB'",
    # Of scratch tables the planner needs sizes and numbers of values, for which 3,000 rows of each do; 30,000 take 0.1
    # seconds.
    "SET default_statistics_target = 10",
    "SET jit = off",
    "SET extra_float_digits = 1",
    "SET datestyle = 'ISO'",
    "SET timezone = 'UTC'",
    "SET client_min_messages = 'warning'",
    "SET client_connection_check_interval = '10s'",
)
