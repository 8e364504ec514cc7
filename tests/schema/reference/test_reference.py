"""Reference documentation and editor schemas: golden files, links that lead somewhere, nothing that is not escaped.

After a change on purpose, write the files anew and review the difference:

    KUBEWRIGHT_WRITE_GOLDEN=1 pytest tests/schema/reference
"""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import reference_kinds
import yaml
from jsonschema import Draft202012Validator

from kubewright.model import Model, Resource, resource
from kubewright.models.core.v1 import PodTemplateSpec
from kubewright.schema import crd_of, crds_of_module
from kubewright.schema.cel.rules import Rules
from kubewright.schema.reference import outline, pages, to_html, to_markdown
from kubewright.schema.structural import Kind

GOLDEN = Path(__file__).with_name("golden")
CRDS = crds_of_module(reference_kinds)
PAGES = {page.name: page.text for form in ("json", "markdown", "html") for page in pages(CRDS, form)}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_it_was(name: str) -> None:
    path = GOLDEN / name.rpartition("/")[2]
    if os.environ.get("KUBEWRIGHT_WRITE_GOLDEN"):
        path.write_text(PAGES[name])
    assert PAGES[name] == path.read_text()


def test_every_golden_file_belongs_to_a_page() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {name.rpartition("/")[2] for name in PAGES}


def test_the_order_of_crds_does_not_matter() -> None:
    assert to_markdown(outline(reversed(CRDS))) == PAGES["api.md"]
    assert to_html(outline(reversed(CRDS))) == PAGES["api.html"]


def test_every_link_within_the_markdown_leads_somewhere() -> None:
    text = PAGES["api.md"]
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(anchors)


def test_every_row_of_a_table_has_its_cells() -> None:
    rows = [line for line in PAGES["api.md"].splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}


def test_every_field_is_described() -> None:
    (web,) = [kind for kind in outline(CRDS) if kind.kind == "Web"]
    spec = next(each for each in web.versions[0].sections if each.path == "spec")
    known = crd_of(reference_kinds.Web)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert {entry.name for entry in spec.entries} == set(known["properties"])


def test_a_sample_is_valid() -> None:
    (crd,) = [each for each in CRDS if each["spec"]["names"]["kind"] == "Web"]
    (web,) = [kind for kind in outline(CRDS) if kind.kind == "Web"]
    for version in web.versions:
        assert version.sample
        assert Kind(crd, rules=Rules).version(version.name).create(yaml.safe_load(version.sample)).errors == ()


class Templated(Model):
    template: PodTemplateSpec


@resource(group="reference.example.com", version="v1")
class Workload(Resource[Templated]):
    pass


def test_a_pod_that_is_embedded_is_linked_and_not_repeated() -> None:
    text = to_markdown(outline([crd_of(Workload)]))
    assert "[PodSpec](https://kubernetes.io/docs/" in text
    assert "initContainers" not in text


class Reader(HTMLParser):
    """Every tag closed in its turn; ids, links and what would be loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        if tag not in ("meta", "input"):
            self.open.append(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if given.get("src") or tag == "link":
            self.loaded.append(str(given))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_the_html_is_well_formed_and_its_links_lead_somewhere() -> None:
    reader = read(PAGES["api.html"])
    assert len(reader.ids) == len(set(reader.ids))
    assert {link[1:] for link in reader.links if link.startswith("#")} <= set(reader.ids)


def test_the_html_loads_nothing() -> None:
    assert read(PAGES["api.html"]).loaded == []
    assert "@import" not in PAGES["api.html"]
    assert "url(" not in PAGES["api.html"]


class Hostile(Model):
    a: str = "</script><script>alert(1)</script>"
    """<img src=x onerror=alert(1)> `<b>` https://example.com/"><i>"""


@resource(group="reference.example.com", version="v1")
class Bad(Resource[Hostile]):
    """</style><script>alert(1)</script>"""


def test_text_of_an_api_is_never_html() -> None:
    text = to_html(outline([crd_of(Bad)]))
    reader = read(text)
    assert "img" not in reader.tags
    assert "i" not in reader.tags
    assert text.count("<script>") == 1
    assert all(link.startswith(("#", "https://")) for link in reader.links)


# -- JSON Schema ------------------------------------------------------------------------------------------------------

WORDS = {
    *("$schema", "$comment", "$ref", "title", "description", "type", "properties", "required", "additionalProperties"),
    *("items", "enum", "const", "default", "examples", "format", "pattern", "contentEncoding", "uniqueItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "allOf", "anyOf", "oneOf", "not", "if", "then"),
    "x-kubernetes-group-version-kind",
}


def parts_of(schema: Any) -> Any:
    """Every schema in a schema."""
    yield schema
    for word in ("items", "additionalProperties", "not", "if", "then"):
        if isinstance(schema.get(word), dict):
            yield from parts_of(schema[word])
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word, ()):
            yield from parts_of(part)
    for part in schema.get("properties", {}).values():
        yield from parts_of(part)


@pytest.mark.parametrize("name", [name for name in PAGES if name.endswith(".json")])
def test_a_schema_has_only_words_of_the_draft(name: str) -> None:
    schema = json.loads(PAGES[name])
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for part in parts_of(schema):
        assert set(part) <= WORDS
        assert not isinstance(part.get("exclusiveMinimum"), bool)
    Draft202012Validator.check_schema(schema)


def test_all_json_knows_every_kind_by_its_file() -> None:
    found = [case["then"]["$ref"] for case in json.loads(PAGES["all.json"])["allOf"]]
    assert found == [
        "reference.example.com/flat_v1.json",
        "reference.example.com/web_v1.json",
        "reference.example.com/web_v1beta1.json",
    ]
    assert set(found) < set(PAGES)


def web() -> Any:
    return json.loads(PAGES["reference.example.com/web_v1.json"])


def test_a_kind_is_known_by_its_api_version() -> None:
    assert web()["properties"]["apiVersion"]["const"] == "reference.example.com/v1"
    assert web()["properties"]["kind"]["const"] == "Web"
    assert web()["required"] == ["apiVersion", "kind", "metadata", "spec"]


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("mode", {"type": "string", "enum": ["fast", "safe"], "default": "safe"}),
        ("surge", {"type": ["integer", "string"], "default": "25%"}),
        ("weight", {"type": ["number", "null"], "title": "A weight"}),
        ("hosts", {"type": "array", "items": {"type": "string", "maxLength": 253}, "uniqueItems": True}),
        ("extra", {"type": "object", "additionalProperties": True}),
    ],
)
def test_a_field_is_translated(field: str, said: Any) -> None:
    found = web()["properties"]["spec"]["properties"][field]
    found.pop("description", None)
    assert found == said


def test_fields_that_a_server_would_drop_are_refused() -> None:
    spec = web()["properties"]["spec"]
    assert spec["additionalProperties"] is False
    assert spec["properties"]["ports"]["items"]["additionalProperties"] is False
    assert spec["properties"]["labels"]["additionalProperties"] is True


def test_rules_are_comments() -> None:
    replicas = web()["properties"]["spec"]["properties"]["replicas"]
    assert replicas["$comment"] == "min must not be above max: self.min <= self.max"
