"""What trusts nobody: verification of the written table, audits, histories of versions."""
