"""Facts that the code relies on, and behaviour that no source fixes.

A `Fact` stands beside the code that it justifies and is collected into one ledger.
An `Unpinned` behaviour has an id, a default and the other choices on offer; models take
``choices={id: choice}`` and report the ids that a result depended on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from lanesort.errors import ArgumentValueError

__all__ = ["Choices", "Fact", "How", "Surety", "Unpinned", "fact", "facts", "unpinned", "unpinned_behaviours"]

How = Literal["documented", "observed", "inferred", "carried", "assumed"]
Surety = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement that code relies on.

    Attributes
    ----------
    about
        Dotted subject, for example ``neuron.sort``.
    statement
        The fact in one sentence.
    how
        How it is known: ``documented`` (a vendor's public document or released source),
        ``observed`` (read from a binary, a header or a run), ``inferred``, ``carried``
        (from another page), ``assumed`` (our choice).
    surely
        How surely it is known.
    source
        Source by name and section.
    """

    about: str
    statement: str
    how: How
    surely: Surety
    source: str


@dataclass(frozen=True, slots=True)
class Unpinned:
    """A behaviour that no source fixes.

    Attributes
    ----------
    id
        Name, for example ``sort.nan-order``.
    about
        Dotted subjects of the instructions that it concerns.
    question
        What is open.
    sources
        Where the contradiction or the gap is.
    default
        The choice that the models make unless told otherwise.
    choices
        Every choice on offer, the default first, each with what it means.
    """

    id: str
    about: tuple[str, ...]
    question: str
    sources: str
    default: str
    choices: Mapping[str, str] = field(default_factory=dict)


_FACTS: dict[tuple[str, str], Fact] = {}
_UNPINNED: dict[str, Unpinned] = {}


def fact(about: str, statement: str, how: How, surely: Surety, source: str) -> Fact:
    """Put a fact into the ledger and return it."""
    entry = Fact(about, statement, how, surely, source)
    if _FACTS.setdefault((about, statement), entry) != entry:
        raise ArgumentValueError(f"two different facts say: {about}: {statement}")
    return entry


def facts(about: str = "") -> tuple[Fact, ...]:
    """Return the facts whose subject is `about` or lies below it, in order of declaration."""
    return tuple(f for f in _FACTS.values() if _below(f.about, about))


def unpinned(
    id: str,
    about: str | Iterable[str],
    question: str,
    sources: str,
    choices: Mapping[str, str],
) -> Unpinned:
    """Declare an unpinned behaviour; the first of `choices` is the default."""
    subjects = (about,) if isinstance(about, str) else tuple(about)
    entry = Unpinned(id, subjects, question, sources, next(iter(choices)), dict(choices))
    if _UNPINNED.setdefault(id, entry) != entry:
        raise ArgumentValueError(f"unpinned behaviour {id} is declared twice, differently")
    return entry


def unpinned_behaviours(about: str = "") -> tuple[Unpinned, ...]:
    """Return the unpinned behaviours that concern `about`, in order of declaration."""
    return tuple(u for u in _UNPINNED.values() if any(_below(s, about) for s in u.about))


def _below(subject: str, about: str) -> bool:
    return not about or subject == about or subject.startswith(about + ".")


class Choices(Mapping[str, str]):
    """The choice made for each unpinned behaviour of a family, defaults filled in.

    Looking a choice up does not record anything; `depend` does, and returns the choice.

    Parameters
    ----------
    about
        Dotted subject; only behaviours below it are known.
    given
        Choices by id that differ from the defaults.

    Raises
    ------
    ArgumentValueError
        For an unknown id or a choice that is not on offer.
    """

    def __init__(self, about: str, given: Mapping[str, str] | None = None) -> None:
        known = {u.id: u for u in unpinned_behaviours(about)}
        self._made = {u.id: u.default for u in known.values()}
        for id, choice in (given or {}).items():
            if id not in known:
                raise ArgumentValueError(
                    f"choices: no unpinned behaviour {id!r}; known are {', '.join(known)}"
                )
            if choice not in known[id].choices:
                offered = ", ".join(map(repr, known[id].choices))
                raise ArgumentValueError(f"choices[{id!r}] is {choice!r}; on offer are {offered}")
            self._made[id] = choice
        self._depended: set[str] = set()

    def __getitem__(self, id: str) -> str:
        return self._made[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def depend(self, id: str) -> str:
        """Return the choice for `id` and record that a result depends on it."""
        self._depended.add(id)
        return self._made[id]

    @property
    def depended(self) -> tuple[str, ...]:
        """The ids that results depended on since the last `reset`, sorted."""
        return tuple(sorted(self._depended))

    def reset(self) -> None:
        """Forget what results depended on."""
        self._depended.clear()
