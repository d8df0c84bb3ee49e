"""Tables of bounds, one per file: questions are asked, and each figure becomes a line of `measures`."""
