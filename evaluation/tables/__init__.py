"""Tables of bounds: samples asked through `asking`, each judged by a row of `measures`. One table a file.

Imports `bench` and all below it.
"""
