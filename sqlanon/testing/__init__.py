"""Checks for methods and requirements of other packages, as scikit-learn's ``check_estimator`` is for estimators.

    from sqlanon.testing import check_method

    def test_method() -> None:
        check_method(DECLARED)

Each runs what sqlanon runs on its own methods and requirements and needs no oracle for: see `check_method` and
`check_requirement`. They raise `AssertionError` with what is wrong. Only tests import this room.
"""

from sqlanon.testing.methods import check_method
from sqlanon.testing.requirements import check_requirement

__all__ = ["check_method", "check_requirement"]
