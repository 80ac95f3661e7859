"""A first start: the code is compiled by other processes, which tell how far they are."""
