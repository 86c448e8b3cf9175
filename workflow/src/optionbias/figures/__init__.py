"""Figures: each module draws one figure from statistics frames and computes no statistics."""
