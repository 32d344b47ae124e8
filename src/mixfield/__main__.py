"""``python -m mixfield``: the command line."""

from mixfield.cli import main

if __name__ == "__main__":
    main()
