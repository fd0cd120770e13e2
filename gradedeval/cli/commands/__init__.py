"""The commands, one module each: options, a call of the library, and the output."""
