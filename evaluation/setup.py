"""The folder itself is the package `evaluation`."""

from setuptools import find_packages, setup

setup(
    packages=["evaluation", *(f"evaluation.{name}" for name in find_packages("."))],
    package_dir={"evaluation": "."},
)
