"""Writes the parts of the documents that follow from tables: `python -m tests.write_docs`."""

from __future__ import annotations

from tests.support.pages import layers_page, layers_picture, promises_page, results_page


def main() -> None:
    promises_page.PAGE.write_text(promises_page.page(), "utf-8")
    layers_page.PAGE.write_text(layers_page.page(), "utf-8")
    layers_picture.PICTURE.write_text(layers_picture.picture(), "utf-8")
    for path in results_page.PAGES:
        path.write_text(results_page.page(path), "utf-8")


if __name__ == "__main__":
    main()
