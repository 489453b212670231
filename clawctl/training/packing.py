"""Packing: many completions as one sequence in which what they share is evaluated once.

A pack is a tree. Its root is the prefix common to all prompts of the pack (system prompt, few-shot turns), under it stand the rest of each
prompt, under each of these its completions. A token sees its own segment up to itself and the segments above; positions go on from
the parent's end. So every completion sees exactly what it would see alone, and a prompt costs once what G samples would cost G times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile


@dataclass
class Row:
    """One completion to train on. `mask` 1 marks tokens that carry loss; `index` is the caller's."""

    prompt: list[int]
    completion: list[int]
    mask: list[int]
    index: int


@dataclass(frozen=True)
class Segment:
    """Tokens start..end of the pack, below segment `parent` (-1: the root)."""

    start: int
    end: int
    parent: int


@dataclass
class Pack:
    """One sequence. `sources[k]` is the position whose hidden state predicts `targets[k]`, a token of row `rows[k]`.

    Rows follow one another in sources, so that a row's predictions are a slice: `spans[i]` of `members[i]`.
    """

    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)


def pack(rows: Sequence[Row], budget: int) -> list[Pack]:
    """Packs of at most `budget` tokens, rows of one prompt together; a single row over the budget is a pack of its own.

    Rows keep their order within a prompt, prompts the order of their first row; rows of a prompt go to several packs where they must.
    """
    prompts: dict[tuple[int, ...], list[Row]] = {}
    for row in rows:
        prompts.setdefault(tuple(row.prompt), []).append(row)
    packs: list[list[list[Row]]] = [[]]
    size = 0
    for members in prompts.values():
        opened = False  # whether the last group of the last pack is this prompt
        for row in members:
            cost = len(row.completion) - 1
            entry = cost if opened else cost + len(row.prompt)
            if packs[-1] and size + entry > budget:
                packs.append([])
                size, opened, entry = 0, False, cost + len(row.prompt)
            if not opened:
                packs[-1].append([])
                opened = True
            packs[-1][-1].append(row)
            size += entry
            if len(packs[-1]) > 1 and len(packs[-1][-1]) == 1:
                size -= _shared([group[0].prompt for group in packs[-1][-2:]])
    return [_build(groups) for groups in packs if groups]


def _build(groups: Sequence[Sequence[Row]]) -> Pack:
    made = Pack()
    shared = _shared([group[0].prompt for group in groups]) if len(groups) > 1 else 0
    root = _add(made, groups[0][0].prompt[:shared], -1, 0) if shared else -1
    for group in groups:
        stem = _add(made, group[0].prompt[shared:], root, shared)
        for row in group:
            begin = len(made.sources)
            # The last token predicts nothing that is trained on, so it is never evaluated.
            at = len(made.tokens)
            if len(row.completion) > 1:
                _add(made, row.completion[:-1], stem, len(row.prompt))
            for t, (token, trained) in enumerate(zip(row.completion, row.mask, strict=True)):
                if trained:
                    made.sources.append(made.segments[stem].end - 1 if t == 0 else at + t - 1)
                    made.targets.append(token)
            made.members.append(row)
            made.spans.append((begin, len(made.sources)))
    return made


def _add(made: Pack, tokens: Sequence[int], parent: int, position: int) -> int:
    start = len(made.tokens)
    made.tokens.extend(tokens)
    made.positions.extend(range(position, position + len(tokens)))
    made.segments.append(Segment(start, len(made.tokens), parent))
    return len(made.segments) - 1


def _shared(prompts: Sequence[Sequence[int]]) -> int:
    """Length of the prefix common to all; at least one token of each stays outside it, to predict from."""
    first, rest = prompts[0], prompts[1:]
    longest = min(len(p) for p in prompts) - 1
    return sum(1 for _ in takewhile(lambda t: all(p[t] == first[t] for p in rest), range(longest)))
