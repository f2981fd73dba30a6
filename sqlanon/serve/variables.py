"""The settings of a session: SET, SHOW, RESET, and those of the startup message."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from sqlanon._version import __version__
from sqlanon.serve.refusals import BAD_VALUE, NO_SETTING, NOT_ALLOWED, ServeError

VERSION = "15.0"
"""The version of PostgreSQL that this server emulates for clients."""

BOUNDS = "sqlanon.bounds"

REPORTED = {
    "server_version": f"{VERSION} (sqlanon {__version__})",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "default_transaction_read_only": "on",
    "in_hot_standby": "off",
    "is_superuser": "off",
    "application_name": "",
    "search_path": "",
}
"""Settings that a client is sent when it connects."""

_OTHERS = {
    BOUNDS: "off",
    "server_version_num": "150000",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "extra_float_digits": "1",
    "client_min_messages": "notice",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "bytea_output": "hex",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "lc_collate": "C",
    "lc_ctype": "C",
    "lc_messages": "C",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "row_security": "on",
    "xmloption": "content",
    "check_function_bodies": "off",
    "escape_string_warning": "on",
    "synchronize_seqscans": "on",
    "quote_all_identifiers": "off",
    "enable_seqscan": "on",
    "geqo": "on",
    "jit": "off",
    "gin_fuzzy_search_limit": "0",
    "idle_session_timeout": "0",
    "transaction_timeout": "0",
    "tcp_keepalives_idle": "0",
    "tcp_keepalives_interval": "0",
    "tcp_keepalives_count": "0",
    "tcp_user_timeout": "0",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "backslash_quote": "safe_encoding",
    "plan_cache_mode": "auto",
    "work_mem": "4MB",
    "random_page_cost": "4",
    "join_collapse_limit": "8",
    "from_collapse_limit": "8",
    "cursor_tuple_fraction": "0.1",
    "default_statistics_target": "100",
    "max_parallel_workers_per_gather": "2",
    "enable_hashjoin": "on",
    "enable_indexscan": "on",
    "enable_mergejoin": "on",
    "enable_nestloop": "on",
    "enable_sort": "on",
    "default_transaction_deferrable": "off",
    "transaction_deferrable": "off",
    "xmlbinary": "base64",
}
_FIXED = {
    "client_encoding": {"utf8", "utf-8", "unicode", "auto"},
    "timezone": {"utc", "gmt", "etc/utc", "default"},
    "standard_conforming_strings": {"on"},
    "transaction_read_only": {"on"},
    "default_transaction_read_only": {"on"},
}
"""Settings with the values that they may be set to, without effect."""
_READ_ONLY = {
    "server_version",
    "server_encoding",
    "integer_datetimes",
    "in_hot_standby",
    "is_superuser",
    "session_authorization",
    "server_version_num",
    "max_identifier_length",
    "max_index_keys",
    "lc_collate",
    "lc_ctype",
}
_SWITCH = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


class Variables:
    """The settings of a session.

    Args:
        user: name of the user.
        schema: schema in which names are looked up first.
        startup: parameters of the startup message.

    Raises:
        ServeError: a parameter is no setting, or the value is not allowed.
    """

    def __init__(self, user: str, schema: str, startup: Mapping[str, str]) -> None:
        self._values = {**REPORTED, **_OTHERS, "session_authorization": user, "search_path": schema}
        self._spelled = {name.lower(): name for name in self._values}
        for name, value in startup.items():
            if name not in ("database", "options", "replication") and not name.startswith("_pq_."):
                # asyncpg quotes this value.
                self.set(name, value.strip("'") if name == "client_encoding" else value)
        for name, value in _options(startup.get("options", "")):
            self.set(name, value)
        self._begun = dict(self._values)

    @property
    def bounds(self) -> bool:
        """Whether answers have their bounds as columns."""
        return _SWITCH[self._values[BOUNDS]]

    @property
    def values(self) -> Mapping[str, str]:
        """All settings by their names."""
        return self._values

    @property
    def reported(self) -> dict[str, str]:
        """Those that a client is sent."""
        return {name: self._values[name] for name in (*REPORTED, "session_authorization")}

    def show(self, name: str) -> tuple[str, str]:
        """The spelled name of a setting, and the value."""
        spelled = self._find_name(name)
        return spelled, self._values[spelled]

    def set(self, name: str, value: str | None) -> str:
        """Set a setting, or restore the first value (None). Returns the setting's name.

        Raises:
            ServeError: there is no such setting, it cannot be changed, or the value is not allowed.
        """
        if name.lower() in ("role", "session_authorization"):
            raise ServeError(NOT_ALLOWED, "a session keeps the role that it asks as")
        spelled = self._find_name(name)
        folded = spelled.lower()
        if value is None:
            self._values[spelled] = getattr(self, "_begun", self._values)[spelled]
            return spelled
        if spelled in _READ_ONLY:
            raise ServeError("55P02", f'parameter "{spelled}" cannot be changed')
        allowed = _FIXED.get(folded)
        if allowed is not None:
            if value.lower() not in allowed:
                raise ServeError(BAD_VALUE, f'parameter "{spelled}" has to be {self._values[spelled]} here')
            return spelled
        if folded == "datestyle" and not value.lower().startswith("iso"):
            raise ServeError(BAD_VALUE, "dates are sent as ISO has them")
        if folded == BOUNDS:
            if value.lower() not in _SWITCH:
                raise ServeError(BAD_VALUE, f"{BOUNDS} is on or off")
            value = value.lower()
        if folded == "statement_timeout":
            seconds_in(value)
        if folded != "datestyle":
            self._values[spelled] = value[:1000]
        return spelled

    def reset(self) -> None:
        """Restore every setting to the value at the start of the session."""
        self._values = dict(self._begun)

    def _find_name(self, name: str) -> str:
        spelled = self._spelled.get(name.lower())
        if spelled is None:
            raise ServeError(NO_SETTING, f'unrecognized configuration parameter "{name[:100]}"')
        return spelled


_TIME = re.compile(r"([0-9]{1,10})\s*(us|ms|s|min|h|d|)")
_UNITS = {"us": 1e-6, "": 0.001, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_in(text: str) -> float:
    """The seconds of a ``statement_timeout``: a number of milliseconds, or of the unit after it; 0: no limit.

    Raises:
        ServeError: it is neither.
    """
    match = _TIME.fullmatch(text.strip().lower())
    if match is None:
        raise ServeError(BAD_VALUE, "statement_timeout is a number of milliseconds, or of us, ms, s, min, h or d")
    return int(match[1]) * _UNITS[match[2]]


_OPTION = re.compile(r"(?:-c|--)([A-Za-z_.]+)=(.*)", re.DOTALL)


def _options(text: str) -> list[tuple[str, str]]:
    """The settings in the parameter ``options``: -c name=value."""
    try:
        words = shlex.split(text.replace("-c ", "-c"))
    except ValueError as error:
        raise ServeError(BAD_VALUE, "options: -c name=value is wanted") from error
    options = []
    for word in words:
        match = _OPTION.fullmatch(word)
        if match is None:
            raise ServeError(BAD_VALUE, "options: -c name=value is wanted")
        options.append((match[1], match[2]))
    return options
