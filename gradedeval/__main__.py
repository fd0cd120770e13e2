"""`python -m gradedeval`."""

from gradedeval.cli import main

if __name__ == "__main__":
    main()
