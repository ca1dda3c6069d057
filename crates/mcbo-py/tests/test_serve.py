"""The pages of ``mcbo serve`` from Python."""

from __future__ import annotations

import gc
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import mcbo
import pytest


@pytest.fixture
def study(greenhouse: mcbo.Problem, tmp_path: Path) -> mcbo.Study:
    return mcbo.create_study(greenhouse, "my plants", f"sqlite://{tmp_path}/s.sqlite", seed=3)


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def origin(served: mcbo.Served) -> str:
    parts = urlsplit(served.url)
    return f"{parts.scheme}://{parts.netloc}"


def post(served: mcbo.Served, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        origin(served) + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def test_the_page_and_the_program_share_the_study(study: mcbo.Study) -> None:
    with mcbo.serve(study) as served:
        assert served.running
        assert served.url.endswith("/studies/my%20plants")
        assert get(served.url)[0] == 200
        # Asked here, seen there; asked there, told here.
        study.ask()
        seen = json.loads(get(f"{origin(served)}/api/studies/my%20plants")[1])
        assert seen["trials"] == 1
        post(served, "/api/studies/my%20plants/ask", {"more": 1})
        assert len(study.trials) == 2
        assert "href" in served._repr_html_()
        assert served.url in repr(served)
    assert not served.running
    assert "stopped" in repr(served)
    assert "stopped" in served._repr_html_()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(served.url, timeout=5)
    served.stop()  # Once more does nothing.


def test_a_storage_is_served_as_a_whole(study: mcbo.Study) -> None:
    assert study.storage is not None
    with mcbo.serve(study.storage, read_only=True) as served:
        names = [one["study"] for one in json.loads(get(f"{served.url}api/studies")[1])]
        assert names == ["my plants"]
        with pytest.raises(urllib.error.HTTPError, match="403"):
            post(served, "/api/studies/my%20plants/ask", {"more": 1})


def test_a_token_is_asked_for(study: mcbo.Study) -> None:
    with mcbo.serve(study, token="let-me-in-please") as served:
        assert served.url.endswith("?token=let-me-in-please")
        assert get(f"{origin(served)}/api/studies")[0] == 401


def test_it_ends_with_the_last_reference(study: mcbo.Study) -> None:
    served = mcbo.serve(study)
    url = served.url
    assert get(url)[0] == 200
    del served
    gc.collect()
    for _ in range(100):
        try:
            get(url)
        except urllib.error.URLError:
            return
    raise AssertionError("it still answers")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"port": 70000}, "65535"),
        ({"port": "8080"}, "port"),
        ({"host": "no.such.host.invalid"}, "127.0.0.1"),
        ({"token": "short"}, "8 or more"),
    ],
)
def test_what_cannot_be_is_refused(study: mcbo.Study, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(mcbo.DataError, match=words):
        mcbo.serve(study, **wrong)


def test_a_port_that_is_taken(study: mcbo.Study) -> None:
    with mcbo.serve(study) as served, pytest.raises(mcbo.DataError, match="try another port"):
        mcbo.serve(study, port=urlsplit(served.url).port or 0)


def test_studies_in_memory_cannot_be_shared(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    with pytest.raises(mcbo.DataError, match="in memory.*hint"):
        mcbo.serve(mcbo.create_study(greenhouse))
    with pytest.raises(mcbo.DataError, match="hint: a study"):
        mcbo.serve(3)  # type: ignore[arg-type]
    with pytest.raises(mcbo.StudyNotFoundError):
        mcbo.serve(f"sqlite://{tmp_path}/nothing.sqlite")
