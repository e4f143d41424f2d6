"""The table of a memory's fields: complete, and obeyed by everything that derives from it or spells names out."""

import inspect
from datetime import UTC, datetime
from typing import get_args

import pytest

from omoide.errors import InvalidInput
from omoide.guard import validation
from omoide.model import Actor, Draft, Memory, Scope, State, fields
from omoide.service import Service
from omoide.settings import load_settings
from omoide.storage import rows
from omoide.storage.sqlite import writer
from omoide.transfer.row import Record

RULES = load_settings({}, {"OMOIDE_CONFIG": "/dev/null"})


def parameters(function):
    return set(inspect.signature(function).parameters)


def test_the_table_has_every_field_of_a_memory_once():
    assert sorted(fields.NAMES) == sorted(Memory.__struct_fields__)
    assert len(fields.FIELDS) == len(fields.NAMES)


def test_the_table_says_what_a_draft_may_give():
    assert set(fields.DRAFT) == set(Draft.__struct_fields__)


def test_remember_takes_every_field_of_a_draft():
    assert parameters(Service.remember) - {"self"} == set(fields.DRAFT)


def test_revise_takes_every_field_that_may_be_revised():
    others = {"self", "ref", "scope", "active", "pinned", "fixed_relevance", "add_tags", "remove_tags", "if_version"}
    assert parameters(Service.revise) - others == set(fields.REVISABLE)


def test_every_kind_of_field_has_a_check():
    assert set(validation._CHECKS) == set(get_args(fields.Kind)) == {field.kind for field in fields.FIELDS}


def test_an_optional_field_accepts_none():
    optional = fields.names(lambda field: field.optional)
    assert validation.check_fields(dict.fromkeys(optional), RULES) == dict.fromkeys(optional)


@pytest.mark.parametrize("name", fields.names(lambda field: not field.optional and field.default != ()))
def test_a_field_that_is_neither_optional_nor_a_list_refuses_none(name):
    with pytest.raises(InvalidInput):
        validation.check_fields({name: None}, RULES)


@pytest.mark.parametrize("field", fields.FIELDS, ids=lambda field: field.name)
def test_every_check_refuses_a_value_of_the_wrong_type(field):
    with pytest.raises(InvalidInput):
        validation.check_fields({field.name: object()}, RULES)


@pytest.mark.parametrize("name", ["colour", "active", "Content", ""])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(InvalidInput, match="there is no field"):
        fields.get(name)
    with pytest.raises(InvalidInput, match="there is no field"):
        validation.check_fields({name: "x"}, RULES)


def test_a_field_that_may_not_be_set_here_is_refused():
    with pytest.raises(InvalidInput, match="pinned cannot be set here: what can be set is key, type"):
        validation.check_fields({"pinned": True}, RULES, fields.REVISABLE)


def test_a_memory_that_breaks_no_rule_is_stored_as_it_is():
    at = datetime(2026, 2, 5, tzinfo=UTC)
    memory = Memory(
        **fields.DEFAULTS | {"author": Actor("me"), "state": State.ARCHIVED},
        id="019c2d5e-0000-7000-8000-000000000000",
        scope=Scope.session("shop", "monday"),
        type="note",
        topic="x",
        topic_given=False,
        content="x",
        source="me",
        created_at=at,
        updated_at=at,
    )
    assert validation.check_memory(memory, RULES) == memory


def test_every_field_is_written_to_a_column():
    beside = {"project", "session", "fingerprint", "blocking_key", "length", "actor"}  # a scope, and what the index needs
    elsewhere = {"number", "id", "scope", "last_accessed_at"}  # the row itself, project and session, a table of its own
    assert set(writer._COLUMNS) - beside == set(fields.NAMES) - elsewhere


def test_every_field_is_read_from_a_column():
    columns = rows.COLUMNS.split(", ")
    assert [column.partition(".")[2] for column in columns[1:]][: len(Memory.__struct_fields__)] == [
        {"scope": "session", "author": "name"}.get(name, name) for name in Memory.__struct_fields__
    ]


def test_a_record_of_an_import_has_every_key_of_an_export():
    exported = [key for field in fields.FIELDS for key in field.record_keys]
    assert [*exported, "links"] == [name for name in Record.__struct_fields__ if name not in ("score", "why", "reason")]
