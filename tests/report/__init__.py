"""Reports: what they hold, for whom, and that a page is well made."""
