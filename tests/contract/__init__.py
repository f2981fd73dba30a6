"""Every method on every engine, in every execution and format, against the oracle."""
