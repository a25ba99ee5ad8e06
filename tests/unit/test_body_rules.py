"""What a description says about the parts of a body that go together is what the model takes, and no more."""

from __future__ import annotations

from itertools import product
from typing import Any

import jsonschema
import pydantic
import pytest

from benzer.errors import BenzerError
from benzer.service.errors import Refusal
from benzer.service.indexes.making import NewIndex, settings_of
from benzer.service.jobs.wire import NewJob
from benzer.service.questions.asked import Asked, Explained, Side
from benzer.service.resources.compare import Pair, of_given
from benzer.service.resources.similar import Question
from benzer.service.settings import Limits

DOCUMENT = {"id": ["a"], "text": ["one two"], "fields": [{"text": "one two"}]}
TEXTS: dict[str, list[Any]] = {"a": [{"text": "one"}], "b": [{"text": "two"}]}
RULES: list[tuple[type[pydantic.BaseModel], dict[str, list[Any]]]] = [
    (Side, DOCUMENT),
    (Asked, {**DOCUMENT, "itself": ["b"]}),
    (Explained, {"text": ["one"], "evidence": [True, False], "limit": [100]}),
    (Question, {**DOCUMENT, "itself": ["b"]}),
    (NewJob, {"index": ["demo"], "documents": [[]], "fields": [{"text": {"type": "text"}}]}),
    (
        NewIndex,
        {
            "name": ["a"],
            "fields": [{"t": {"type": "text"}}],
            "preset": ["web", "none"],
            "bands": [20],
            "rows": [5],
        },
    ),
    (NewIndex, {"name": ["a"], "minhash": ["kmins", "other"], "family": ["mixed", "other"]}),
    (Pair, {**TEXTS, "fields": [{"text": {"type": "text"}}], "preset": ["web", "none"]}),
]
LEFT_OUT = object()


def is_taken(model: type[pydantic.BaseModel], body: dict[str, Any]) -> bool:
    """Whether the service takes a body, with what its route checks of it."""
    try:
        read = model.model_validate(body)
        if isinstance(read, NewIndex):
            settings_of(read)
        if isinstance(read, Pair):
            of_given(read, Limits())
    except (pydantic.ValidationError, Refusal, BenzerError):
        return False
    return True


@pytest.mark.parametrize("model, parts", RULES)
def test_a_body_is_taken_if_its_description_allows_it(
    model: type[pydantic.BaseModel], parts: dict[str, list[Any]]
) -> None:
    check = jsonschema.Draft202012Validator(model.model_json_schema())
    taken = 0
    for values in product(*([LEFT_OUT, None, *choices] for choices in parts.values())):
        body = {name: value for name, value in zip(parts, values, strict=True) if value is not LEFT_OUT}
        assert check.is_valid(body) == is_taken(model, body), body
        taken += check.is_valid(body)
    assert taken


@pytest.mark.parametrize("limit", [100, 101])
def test_evidence_is_given_for_few_matches(limit: int) -> None:
    check = jsonschema.Draft202012Validator(Explained.model_json_schema())
    assert check.is_valid({"text": "one", "limit": limit})
    assert check.is_valid({"text": "one", "limit": limit, "evidence": True}) == (limit == 100)
