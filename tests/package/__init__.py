"""The package as a whole: names, documents, command line, wheel."""
