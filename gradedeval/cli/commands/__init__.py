"""The commands, a module each: what a command takes, what it calls of the library, and what it prints."""
