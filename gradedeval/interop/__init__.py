"""gradedeval inside other packages, one module each; a module needs the package that it is named after."""
