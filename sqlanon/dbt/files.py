"""Reading dbt's own files: YAML and JSON as plain data, and the Jinja of profiles.yml and dbt_project.yml.

No message made here shows a value of a file: profiles hold passwords.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, TemplateError, UndefinedError
from jinja2.sandbox import SandboxedEnvironment

from sqlanon.bounded_file import read_bounded
from sqlanon.errors import PolicyError

MOST = 256 * 1024 * 1024
"""Bytes of a file of dbt, at most: the manifest of a large project is such a file."""
_AS = ("as_text", "as_bool", "as_number", "as_native")
"""dbt's filters that choose a type; here every value is text until it is used."""


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping.

    Raises:
        PolicyError: it cannot be read, or is not such a file.
    """
    try:
        data = yaml.safe_load(_text(path))
    except (yaml.YAMLError, ValueError) as error:  # a ValueError: a date that is none
        mark = getattr(error, "problem_mark", None)
        raise PolicyError(f"{path}{f':{mark.line + 1}' if mark else ''}: not YAML") from None
    if not isinstance(data, dict):
        raise PolicyError(f"{path}: not a mapping; dbt's file has keys and values")
    return data


def write_yaml(content: Mapping[str, Any]) -> str:
    """Plain data as YAML, keys in their order."""
    return yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=120)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object.

    Raises:
        PolicyError: it cannot be read, or is not such a file.
    """
    try:
        data = json.loads(_text(path))
    except ValueError:
        raise PolicyError(f"{path}: not JSON; let dbt write it anew: dbt build, or dbt parse") from None
    if not isinstance(data, dict):
        raise PolicyError(f"{path}: not an object; let dbt write it anew: dbt build, or dbt parse")
    return data


def _text(path: Path) -> str:
    try:
        return read_bounded(path, MOST).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PolicyError(f"{path}: not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read ({error.strerror})") from None


class Renderer:
    """Puts in the value of ``{{ env_var('NAME') }}``, as dbt does in profiles.

    Args:
        path: the file, for messages.
        environ: the environment's variables.
    """

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ
        self._jinja = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
        self._jinja.filters.update(dict.fromkeys(_AS, lambda value: value))
        self._jinja.globals.clear()
        self._jinja.globals.update(env_var=self._env_var, var=self._var)

    def render(self, value: object, where: str) -> object:
        """The value with every template in it rendered to text; ``where`` it is, for messages.

        Raises:
            PolicyError: a variable is not set, or the template cannot be rendered.
        """
        if isinstance(value, dict):
            return {key: self.render(item, f"{where}.{key}") for key, item in value.items()}
        if isinstance(value, list):
            return [self.render(item, f"{where}[{index}]") for index, item in enumerate(value)]
        if not isinstance(value, str) or "{" not in value:
            return value
        try:
            return self._jinja.from_string(value).render()
        except PolicyError as error:
            raise PolicyError(f"{self._path}: {where}: {error}") from None
        except UndefinedError:
            what = "uses a name that is not known here; env_var('NAME') is"
        except TemplateError:
            what = "its Jinja cannot be read"
        except Exception as error:  # noqa: BLE001 - a filter may raise anything, and its text may hold the value
            what = f"its Jinja fails ({type(error).__name__})"
        raise PolicyError(f"{self._path}: {where}: {what}; --db names the database instead") from None

    def _env_var(self, name: str, default: object = None) -> object:
        if name in self._environ:
            return self._environ[name]
        if default is None:
            raise PolicyError(f"the environment variable {name} is not set")
        return default

    def _var(self, name: str, default: object = None) -> object:
        """Dbt's own variables come from dbt's command line, which is not ours; a default serves."""
        if default is None:
            raise PolicyError(f"var('{name}') has no default, and dbt's --vars are not read; use env_var")
        return default
