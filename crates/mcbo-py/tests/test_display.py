"""What notebooks show, and pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib as mpl
import mcbo
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt


def parsed(page: str) -> ElementTree.Element:
    """The page as a tree: it must be well-formed."""
    return ElementTree.fromstring(f"<div>{page}</div>")


def test_pages_are_well_formed(told: mcbo.Study, clinic: mcbo.Problem, vector: mcbo.Problem) -> None:
    pages = [told._repr_html_(), told.problem._repr_html_(), told.best()._repr_html_()]
    pages += [clinic._repr_html_(), vector._repr_html_(), mcbo.create_study(clinic)._repr_html_()]
    for page in pages:
        assert parsed(page).find(".//table") is not None or "no trials yet" in page
    assert all("<svg" in page for page in pages[:3])
    model = told.model._repr_html_()
    assert parsed(model) is not None
    assert model.count("<title>") == 3
    assert set(told.model.pictures()) == {"graph", "mechanism-moisture", "mechanism-growth"}
    assert "growth" in pages[2]


def test_a_study_without_data_shows_itself(greenhouse: mcbo.Problem) -> None:
    best = mcbo.create_study(greenhouse).best()
    assert best.certificate is not None
    assert best.certificate.gap == float("inf")
    assert "better by more" not in str(best)
    assert parsed(best._repr_html_()) is not None


def test_names_are_text_and_not_markup(greenhouse: mcbo.Problem, tmp_path: Path) -> None:
    study = mcbo.create_study(greenhouse, name="<b>&\"x'", storage=f"sqlite://{tmp_path}/s.sqlite")
    assert "&lt;b&gt;&amp;" in study._repr_html_()
    assert parsed(study._repr_html_()) is not None


def test_pictures(told: mcbo.Study, tmp_path: Path) -> None:
    axes = mcbo.plot.history(told)
    assert len(axes.lines) == 2
    assert mcbo.plot.mechanism(told, "growth").get_xlabel() == "moisture"
    with pytest.raises(mcbo.DataError, match="its inputs are moisture"):
        mcbo.plot.mechanism(told, "growth", along="water")
    runs = mcbo.bench.sweep(["dropwave"], ["random", "observe"], range(3), rounds=4)
    curves = mcbo.plot.curves(runs)
    assert [line.get_label() for line in curves.lines] == ["random"]
    curves.figure.savefig(tmp_path / "curves.png")  # type: ignore[union-attr]
    plt.close("all")


def test_own_pictures(told: mcbo.Study, tmp_path: Path) -> None:
    pictures = told.pictures()
    assert {"history", "graph", "parallel", "mechanism-growth", "calibration-growth"} <= set(pictures)
    for picture in pictures.values():
        ElementTree.fromstring(picture._repr_svg_())
    pictures["graph"].save(tmp_path / "graph.png")
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    pictures["graph"].save(tmp_path / "graph.svg")
    with pytest.raises(mcbo.DataError, match="ends in .svg or .png"):
        pictures["graph"].save(tmp_path / "graph.gif")
    assert set(mcbo.create_study(told.problem).pictures()) == {"history", "graph", "parallel"}


def test_words() -> None:
    problem = mcbo.Problem({"y": {"actions": ["a"]}}, {"a": (0, 1)}, minimize="y", name="p")
    assert repr(problem) == "Problem('p', minimize 'y', 1 nodes, 1 actions)"
    study = mcbo.create_study(problem)
    assert repr(study) == "Study(in memory, mcbo, 0 of 0 trials complete)"
