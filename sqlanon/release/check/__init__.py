"""Checks that rely on no method's results: verification of the written table, audits, histories of versions."""
