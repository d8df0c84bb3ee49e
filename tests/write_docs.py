"""Writes the parts of the documents that follow from tables: `python -m tests.write_docs`."""

from __future__ import annotations

from tests.support.pages import (
    command_page,
    http_page,
    layers_page,
    layers_picture,
    policy_page,
    promises_page,
    results_page,
    troubleshooting_page,
)


def main() -> None:
    promises_page.PAGE.write_text(promises_page.page(), "utf-8")
    layers_page.PAGE.write_text(layers_page.page(), "utf-8")
    command_page.PAGE.write_text(command_page.page(), "utf-8")
    http_page.PAGE.write_text(http_page.page(), "utf-8")
    policy_page.PAGE.write_text(policy_page.page(), "utf-8")
    troubleshooting_page.PAGE.write_text(troubleshooting_page.page(), "utf-8")
    layers_picture.PICTURE.write_text(layers_picture.picture(), "utf-8")
    for path in results_page.PAGES:
        path.write_text(results_page.page(path), "utf-8")


if __name__ == "__main__":
    main()
