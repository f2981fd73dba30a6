"""What an extension adds from one file, without touching the package, and that all of sqlanon then knows it."""
