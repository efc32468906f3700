"""weald beside other libraries."""
