"""Tables: each module lays out one table from statistics frames and computes no statistics."""
