"""The tests, as one package, so that every suite can use `tests.oracle` and `tests.engines`."""
