"""The tests. With this file the folder is a package, which no package of that name that is installed hides."""
