"""`python -m client_sdk`: the command `arog` where its script is not on the path."""

from client_sdk.cli.main import main

if __name__ == "__main__":
    main()
