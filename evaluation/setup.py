"""Build file of the package `evaluation`, whose root is this folder itself."""

from setuptools import find_packages, setup

setup(
    packages=["evaluation", *(f"evaluation.{name}" for name in find_packages("."))],
    package_dir={"evaluation": "."},
)
