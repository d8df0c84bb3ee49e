"""Tables of bounds, one a file: samples are asked, and each is judged by a row of `measures`."""
