"""Every pass of a query by itself: SQL that goes in, SQL that comes out, and what both give when they run."""
