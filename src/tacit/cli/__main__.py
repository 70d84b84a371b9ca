"""``python -m tacit.cli`` is ``tacit``."""

from tacit.cli import main

if __name__ == "__main__":
    main()
