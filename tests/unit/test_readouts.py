"""The registry of readouts."""

import re

import pytest

from optionbias.config.model import IDENTIFIER
from optionbias.errors import UserError
from optionbias.prompts import PLAIN
from optionbias.readouts import READOUTS, readout_named


def test_zero_shot_shows_no_examples_and_five_shot_five_in_the_same_body() -> None:
    assert (READOUTS["zero_shot"].n_shots, READOUTS["five_shot"].n_shots) == (0, 5)
    assert READOUTS["zero_shot"].style == READOUTS["five_shot"].style == PLAIN


def test_every_readout_is_found_by_a_name_that_fits_paths() -> None:
    for name, readout in READOUTS.items():
        assert readout_named(name) is readout
        assert readout.name == name
        assert re.match(IDENTIFIER, name)
        assert readout.description


def test_unknown_readout_is_refused_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r"'zero-shot'.*zero_shot, five_shot"):
        readout_named("zero-shot")
