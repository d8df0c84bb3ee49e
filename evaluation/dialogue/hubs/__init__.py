"""Measures which relations of a hub are offered where it has more than may be: `arog eval hubs`."""
