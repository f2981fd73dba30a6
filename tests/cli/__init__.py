"""The command line: exit codes, both forms of output, and that nothing of the data leaks from it."""
