"""Checks for methods and requirements of other packages, as scikit-learn's ``check_estimator`` is for estimators.

    from sqlanon.testing import check_method

    def test_method() -> None:
        check_method(DECLARED)

Each runs the tests of sqlanon's own methods and requirements that need no oracle: see `check_method` and
`check_requirement`. They raise `AssertionError` with the fault. Only tests import this room.
"""

from sqlanon.testing.methods import check_method
from sqlanon.testing.requirements import check_requirement

__all__ = ["check_method", "check_requirement"]
