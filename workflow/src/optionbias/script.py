"""Run a script's ``main`` from Snakemake or from a shell, with the same arguments."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from optionbias.run_log import logged


def run(main: Callable[..., None], snakemake: Any | None) -> None:
    """Call ``main`` with a job's named inputs, outputs and params, or as a command.

    Under Snakemake each parameter of ``main`` takes the job's input, output, param,
    wildcard or resource of the same name, or ``threads``; everything it prints is copied to
    the job's log. In a shell the parameters become options.

    Args:
        main: function with annotated, explicit arguments.
        snakemake: the object Snakemake gives to scripts, or None in a shell.
    """
    if snakemake is None:
        typer.run(_as_command(main))
        return
    log = Path(snakemake.log[0]) if snakemake.log else None
    with logged(log):
        main(**job_arguments(main, snakemake))


def job_arguments(main: Callable[..., None], snakemake: Any) -> dict[str, Any]:
    """Return the arguments of ``main`` from a Snakemake job, paths as `Path`.

    Raises:
        LookupError: a parameter without a default has no counterpart in the rule, or
            several files stand for one path.
    """
    paths = {**dict(snakemake.input.items()), **dict(snakemake.output.items())}
    values = {
        **dict(snakemake.resources.items()),
        **dict(snakemake.wildcards.items()),
        **dict(snakemake.params.items()),
    }
    arguments: dict[str, Any] = {}
    for name, parameter in inspect.signature(main).parameters.items():
        if name in paths:
            if parameter.annotation != list[Path] and _is_several(paths[name]):
                raise LookupError(
                    f"rule {snakemake.rule} gives {len(paths[name])} files for the one '{name}'"
                )
            arguments[name] = _as_paths(paths[name], parameter.annotation)
        elif name in values:
            arguments[name] = values[name]
        elif name == "threads":
            arguments[name] = snakemake.threads
        elif parameter.default is inspect.Parameter.empty:
            raise LookupError(f"rule {snakemake.rule} gives no '{name}' to its script")
    return arguments


def _is_several(value: Any) -> bool:
    return not isinstance(value, str) and len(value) > 1


def _as_paths(value: Any, annotation: Any) -> Any:
    if annotation == list[Path]:
        return [Path(value)] if isinstance(value, str) else [Path(path) for path in value]
    if isinstance(value, str):
        return Path(value)
    paths = [Path(path) for path in value]
    return paths[0] if paths else None


def _as_command(main: Callable[..., None]) -> Callable[..., None]:
    """Return ``main`` as a command: an option per parameter, mistakes without a traceback."""

    def command(**arguments: Any) -> None:
        with logged(None):
            main(**arguments)

    signature = inspect.signature(main)
    parameters = [
        # Left alone, typer would make arguments by position of those without a default.
        parameter.replace(annotation=Annotated[parameter.annotation, typer.Option()])
        for parameter in signature.parameters.values()
    ]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {entry.name: entry.annotation for entry in parameters}
    command.__doc__ = main.__doc__
    return command
