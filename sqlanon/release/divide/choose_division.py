"""Which division a policy asks for, on this engine: the only place that asks."""

from __future__ import annotations

from sqlanon.engines.base import Engine, TableRef
from sqlanon.release.divide.division import Division
from sqlanon.release.divide.executor_blocks import ExecutorBlocks
from sqlanon.release.divide.own_boxes import OwnBoxes
from sqlanon.release.divide.persons_whole import PersonsWhole
from sqlanon.release.divide.rows import Rows
from sqlanon.release.divide.token_blocks import Linking, TokenBlocks
from sqlanon.spec import ReleaseSpec
from sqlanon.table.stage import Roles


def kind_of_division(spec: ReleaseSpec, engine: Engine) -> type[Rows]:
    """The kind of division of a release on this engine."""
    if spec.token is not None:
        return TokenBlocks
    if spec.privacy.whole:
        return PersonsWhole
    if spec.privacy.own_boxes:
        return OwnBoxes
    return Rows if engine.workers is None else ExecutorBlocks


def division_of(spec: ReleaseSpec, roles: Roles, engine: Engine, secret: str, elsewhere: TableRef | None) -> Division:
    """The division of a release.

    Args:
        spec: the release.
        roles: its columns.
        engine: where its rows are.
        secret: what its hashes are keyed with.
        elsewhere: what tokens are like in the other tables of the scope: see `sqlanon.release.verify.tokens`.
    """
    kind = kind_of_division(spec, engine)
    if spec.token is not None and kind is TokenBlocks:
        return TokenBlocks(Linking(roles.token_of(spec.token.name).alias, elsewhere))
    if engine.workers is not None and kind is ExecutorBlocks:
        return ExecutorBlocks(engine.workers)
    if kind is OwnBoxes:
        return OwnBoxes(spec, secret)
    return PersonsWhole() if kind is PersonsWhole else Rows()
