"""Plans answers on graphs without declared kinds: from the best-scored paths to a set expression.

`next_action` is used for all graphs. tests/layers.toml lists the packages that it may import.
"""
