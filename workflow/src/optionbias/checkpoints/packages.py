"""Weights that installed Python packages ship."""

from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from optionbias.checkpoints.manifest import sha256_of_files
from optionbias.errors import UserError


def package_files(
    checkpoint: str, requirements: Sequence[str], files: Sequence[str], sha256: str
) -> list[Path]:
    """Return the paths of the shipped files after checking their bytes.

    Args:
        checkpoint: the id in the config, for messages.
        requirements: packages as ``name==version``.
        files: paths relative to the site-packages folder, in order.
        sha256: expected digest of the files' bytes joined in order.

    Raises:
        UserError: a package is missing or has another version, a file is missing,
            or the bytes differ.
    """
    distributions = [_installed(checkpoint, requirement) for requirement in requirements]
    paths = [_located(checkpoint, distributions, file) for file in files]
    found = sha256_of_files(paths)
    if found != sha256:
        raise UserError(
            f"checkpoint '{checkpoint}': the shipped files have SHA-256 {found}, the config "
            f"expects {sha256}; install {' '.join(requirements)} again or correct source.sha256"
        )
    return paths


def _installed(checkpoint: str, requirement: str) -> Distribution:
    name, _, version = requirement.partition("==")
    advice = f"install it with: python -m pip install --no-deps {requirement}"
    try:
        found = distribution(name.strip())
    except PackageNotFoundError as error:
        raise UserError(
            f"checkpoint '{checkpoint}': the package '{name}' that ships its weights is not "
            f"installed; {advice}"
        ) from error
    if version and found.version != version.strip():
        raise UserError(
            f"checkpoint '{checkpoint}': the package '{name}' has version {found.version}, the "
            f"config asks for {version}; {advice}"
        )
    return found


def _located(checkpoint: str, distributions: Sequence[Distribution], file: str) -> Path:
    for found in distributions:
        path = Path(str(found.locate_file(file)))
        if path.is_file():
            return path
    names = ", ".join(found.metadata["Name"] for found in distributions)
    raise UserError(
        f"checkpoint '{checkpoint}': no file '{file}' in the packages {names}; correct source.files"
    )
