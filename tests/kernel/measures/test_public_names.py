"""The names of `gradedeval.measures`, and the properties that measures state."""

import inspect
from dataclasses import fields
from typing import Any

import pytest

import gradedeval
from gradedeval import MEASURES, measures
from gradedeval.kernel.measures.cwl_family.formula import CWLProperties
from gradedeval.kernel.measures.definition import MeasureProperties


def test_an_editor_is_offered_the_measures_and_no_module() -> None:
    offered = dir(measures)
    assert set(offered) == {*measures.__all__, *MEASURES}
    assert not [name for name in offered if inspect.ismodule(getattr(measures, name))]


@pytest.mark.parametrize("name", ["err", "set_", "cwl"])
def test_each_measure_is_imported_by_its_name(name: str) -> None:
    assert getattr(measures, name) is MEASURES[name.rstrip("_")]


@pytest.mark.parametrize(("decorator", "properties"), [("measure", MeasureProperties), ("cwl", CWLProperties)])
def test_every_property_is_a_keyword_with_its_default_and_in_the_help(decorator: str, properties: type) -> None:
    decorate = getattr(gradedeval, decorator)
    keywords = {
        keyword.name: keyword.default
        for keyword in inspect.signature(decorate).parameters.values()
        if keyword.kind is keyword.KEYWORD_ONLY
    }
    assert keywords == {field.name: field.default for field in fields(properties)}
    assert [name for name in keywords if f"\n{name} " not in inspect.getdoc(decorate)] == []


@pytest.mark.parametrize("name", ["measure", "cwl"])
def test_a_wrong_property_is_refused_in_words_of_the_decorator(name: str) -> None:
    decorate: Any = getattr(gradedeval, name)
    with pytest.raises(TypeError, match=rf"^@{name} has no keyword 'monotonous'; did you mean 'monotone'\?$"):
        decorate(monotonous=False)
    with pytest.raises(TypeError, match=rf"^@{name} has no keyword 'x'; it takes gain, scale, intents, "):
        decorate(len, x=1)
    with pytest.raises(TypeError, match=rf"^@{name} makes a measure of a function, not of 5$"):
        decorate(5)
    with pytest.raises(TypeError, match=rf"^@{name} makes a measure of a function, not of 'rbp'$"):
        decorate(gain="exp")("rbp")
