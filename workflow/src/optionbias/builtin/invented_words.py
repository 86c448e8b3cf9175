"""Pronounceable words of two syllables that mean nothing in English."""

from collections.abc import Iterator
from itertools import count

from optionbias.builtin.draws import drawn_below

ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "dr", "kl", "pr")
VOWELS = ("a", "e", "i", "o", "u")
INNER_CODAS = ("b", "d", "g", "k", "l", "m", "n", "p", "r", "v", "z")
# Endings such as -er, -ed and -en are left out: with them many draws would be real words.
FINAL_CODAS = ("b", "g", "k", "p", "v", "z")

# The real words and names that these syllables can spell, as far as a search found them.
REAL_WORDS = frozenset(
    {
        *("bandog", "barkov", "barlev", "bedbug", "burkov", "burlap", "dalvik"),
        *("deltav", "dobrev", "dogleg", "dogtag", "dollop", "dunlap", "dunlop", "gallop"),
        *("gallup", "galvez", "garlik", "garrik", "gorkov", "kidnap", "kozlov", "lapdog"),
        *("laptop", "larrup", "linkup", "lollop", "maglev", "markov", "markup", "mendez"),
        *("mendov", "norvig", "pavlov", "pegtop", "problog", "publik", "pubsub", "pullup"),
        *("radzik", "ragbag", "ragtag", "rollup", "rubrik", "segreg", "selkup", "sendup"),
        *("signup", "subdeb", "sundog", "tammuz", "tiktok", "tugrik", "turnip", "turnup"),
        *("valdez", "valkov", "volkov", "zagreb", "zigzag", "zinkov"),
    }
)
UNWELCOME_SYLLABLES = frozenset({"dik", "fag", "fuk", "kok", "kum", "nig"})


def invented_words(seed: int) -> Iterator[str]:
    """Yield distinct invented words, without an end, in seeded order.

    There are about 470,000 of them; asking for more never returns.
    """
    seen = set(REAL_WORDS)
    for index in count():
        syllables = (
            _syllable(seed, index, "inner", INNER_CODAS),
            _syllable(seed, index, "final", FINAL_CODAS),
        )
        word = "".join(syllables)
        if word not in seen and UNWELCOME_SYLLABLES.isdisjoint(syllables):
            seen.add(word)
            yield word


def _syllable(seed: int, index: int, place: str, codas: tuple[str, ...]) -> str:
    return "".join(
        sounds[drawn_below(len(sounds), seed, "invented words", index, place, part)]
        for part, sounds in (("onset", ONSETS), ("vowel", VOWELS), ("coda", codas))
    )
