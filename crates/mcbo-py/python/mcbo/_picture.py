"""Pictures that the library draws itself: no other package is needed for them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from mcbo import _mcbo
from mcbo._errors import DataError


@dataclass(frozen=True)
class Picture:
    """A picture of a study. A notebook shows it."""

    #: A name for files, such as ``mechanism-yield``.
    name: str
    #: What it shows, in a line.
    title: str
    #: The picture.
    svg: str = field(repr=False)

    def png(self) -> bytes:
        """The picture as PNG."""
        return _mcbo.png(self.svg)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file whose name ends in ``.svg`` or ``.png``."""
        file = Path(path)
        if file.suffix == ".svg":
            file.write_text(self.svg, encoding="utf-8")
        elif file.suffix == ".png":
            file.write_bytes(self.png())
        else:
            raise DataError(f"{file.name} is no picture; hint: a name that ends in .svg or .png")

    def _repr_svg_(self) -> str:
        return self.svg
