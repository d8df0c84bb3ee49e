"""Runs the command `arog` as `python -m client_sdk`, for use if its script is not on the PATH."""

from client_sdk.cli.main import main

if __name__ == "__main__":
    main()
