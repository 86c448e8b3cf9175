"""The configuration: one typed model, its loading and the matrix of cells it describes."""
