"""Checkpoints: fetch or assemble the weights, check them, convert GGUF, write a manifest."""
