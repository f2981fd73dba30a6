"""The commands, a function for each: options in, calls of the library, a report shown or emitted."""
