"""The commands, one function each: options in, calls of the library, a report shown or emitted."""
