"""The studies in a browser, from Python."""

from __future__ import annotations

import getpass
import html
import os
import socket
import webbrowser
from types import TracebackType
from urllib.parse import quote, urlsplit, urlunsplit

from mcbo import _mcbo, _plan, _storage
from mcbo._errors import DataError
from mcbo._study import Study, _text


class Served:
    """A server of studies that runs beside the program: :attr:`url` is what to open, :meth:`stop` ends it.

    It ends with the ``with`` block, with the last reference to it, or with the program.
    """

    def __init__(self, raw: _mcbo.Served, url: str) -> None:
        self._raw = raw
        self._url = url

    @property
    def url(self) -> str:
        """The address of the page, with the token if there is one."""
        return self._url

    @property
    def running(self) -> bool:
        """Whether it still answers."""
        return self._raw.running

    def stop(self) -> None:
        """Ends it. Once more does nothing."""
        self._raw.stop()

    def open(self) -> bool:
        """Opens the page in this computer's browser; says whether there is one."""
        return webbrowser.open(self._url)

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<mcbo.Served {self._url}{'' if self.running else ', stopped'}>"

    def _repr_html_(self) -> str:
        if not self.running:
            return "<p>The server was stopped.</p>"
        address = html.escape(self._url)
        return f'<p>The study in your browser: <a href="{address}" target="_blank" rel="noopener">{address}</a></p>'


def serve(
    study: Study | str,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    read_only: bool = False,
    open: bool = False,
) -> Served:
    """The pages of ``mcbo serve``, by a server that runs beside the program.

    ``study`` is a study in a storage, whose page :attr:`Served.url` is, or the address of a storage, for the list of
    its studies. What is done in the browser is seen here, and the other way round. ``port`` 0 takes any that is free.
    Other computers can reach another ``host`` than this one, and need a ``token``, which is made if there is none.
    ``open=True`` opens the page in this computer's browser; a notebook shows a link.

    A study in memory belongs to this program alone, and its pages would show a copy that goes its own ways: it is
    refused. Strategies written in Python propose where they are; the page says that they are missing.

    >>> import mcbo, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
    >>> study = mcbo.create_study(problem, "first", f"sqlite://{folder.name}/studies.sqlite")
    >>> with mcbo.serve(study) as page:
    ...     page.url.startswith("http://127.0.0.1:") and page.url.endswith("/studies/first")
    True
    """
    if isinstance(study, Study):
        if study.storage is None or study.name is None:
            raise DataError(
                "the study is in memory, where no page can share it; hint: begin it with a name and a storage, "
                'mcbo.create_study(problem, "beer", "sqlite://studies.sqlite")'
            )
        storage, name = study.storage, study.name
    elif isinstance(study, str):
        storage, name = study, None
    else:
        raise DataError(f"{type(study).__name__} cannot be served; hint: a study, or the address of a storage")
    _storage.check_there(storage)
    number = _plan.whole("the port", port, 0)
    if number is None or number > 65535:
        raise DataError(f"the port is {_plan.shown(port)}; hint: 0 for any that is free, or a number up to 65535")
    here = socket.gethostname()
    author = os.environ.get("MCBO_WORKER") or f"{getpass.getuser()}@{here}"
    address = _text("the host", host) or ""
    raw = _mcbo.Served(storage, (address, number), _text("the token", token), bool(read_only), author, [here])
    served = Served(raw, raw.url if name is None else _page(raw.url, name))
    if open:
        served.open()
    return served


def _page(url: str, name: str) -> str:
    """The address of a study's page from that of the list."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"/studies/{quote(name, safe='')}"))
