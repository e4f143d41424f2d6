"""Defaults, then the file, then the environment, then flags; and errors that say where and what to do."""

import inspect
from pathlib import Path

import platformdirs
import pytest

import omoide
from omoide import settings
from omoide.errors import Unreadable
from omoide.settings import SETTINGS, Settings, load_settings


@pytest.fixture
def file(tmp_path):
    return tmp_path / "config.toml"


def read(file, flags=None, **environment):
    return load_settings(flags, {"OMOIDE_CONFIG": str(file), **environment})


def test_without_a_file_everything_has_a_default(file):
    found = read(file)
    assert (found.type, found.limit, found.secrets, found.wait) == ("note", 10, "refuse", 30.0)
    assert set(found.origins.values()) == {"default"}
    assert found.store.endswith("memory.db")


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(file):
    file.write_text('# mine\nlimit = 3\ntype = "tech"\n')
    assert (read(file).limit, read(file).origins["limit"]) == (3, f"{file}, line 2")
    found = read(file, OMOIDE_LIMIT="4")
    assert (found.limit, found.origins["limit"]) == (4, "OMOIDE_LIMIT")
    found = read(file, {"limit": 5}, OMOIDE_LIMIT="4")
    assert (found.limit, found.origins["limit"], found.type) == (5, "flag", "tech")


def test_types_of_ones_own_join_the_built_in_ones(file):
    file.write_text('types = ["runbook", "手順"]\n')
    assert {"runbook", "手順", "decision"} <= set(read(file).all_types)
    assert "persona" in read(file, OMOIDE_TYPES="persona, runbook").all_types


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("limit = 0", "limit must be an integer from 1 to 1,000, got 0"),
        ("limit = true", "an integer"),
        ('limit = "many"', "an integer"),
        ('secrets = "keep"', '"refuse" or "redact"'),
        ("store = 5", "store must be a string, got 5"),
        ('type = "Bad Name"', "a type name of lower-case letters"),
        ("types = 5", "a list of type names"),
        ('types = ["UPPER"]', "a type name of lower-case letters"),
        ("wait = -1", "a number of seconds from 0 to 3600, got -1"),
        ("max_content = 5", "an integer from 1,000"),
        ("limitt = 5", "there is no setting 'limitt'"),
    ],
)
def test_a_value_that_cannot_be_used_names_file_line_and_remedy(file, line, expected):
    file.write_text(f"# a comment\n\n{line}\n")
    with pytest.raises(Unreadable) as caught:
        read(file)
    assert f"{file}, line 3" in str(caught.value)
    assert expected in str(caught.value)


def test_a_bad_variable_is_named(file):
    with pytest.raises(Unreadable, match="OMOIDE_WAIT: wait must be a number of seconds from 0 to 3600, got 'soon'"):
        read(file, OMOIDE_WAIT="soon")


@pytest.mark.parametrize("content", [b"limit = = 3\n", b'type = "open\n', b"\xff\xfe"])
def test_a_file_that_is_not_toml_is_an_error_that_names_it(file, content):
    file.write_bytes(content)
    with pytest.raises(Unreadable, match=str(file)):
        read(file)


def test_every_setting_has_a_variable_and_a_sentence():
    for setting in SETTINGS:
        assert setting.variable == f"OMOIDE_{setting.name.upper()}"
        assert len(setting.description) > 10


@pytest.mark.parametrize("home", ["/home/someone", "", "relative", None])
@pytest.mark.parametrize("named", ["/elsewhere", "", " /elsewhere", "relative", "~/own", None])
def test_the_default_directories_are_those_of_the_platform(monkeypatch, home, named):
    for variable, value in {"HOME": home, "XDG_CONFIG_HOME": named, "XDG_DATA_HOME": named}.items():
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, value)
    assert settings.config_file({}) == platformdirs.user_config_path("omoide") / "config.toml"
    assert Path(load_settings(environment={}).store) == platformdirs.user_data_path("omoide") / "memory.db"


def test_an_unknown_flag_is_refused(file):
    with pytest.raises(Unreadable, match="flag: there is no setting 'sotre': use one of store, "):
        read(file, {"sotre": "memory.db"})


def test_settings_have_exactly_the_fields_of_the_table():
    assert set(Settings.__struct_fields__) == {setting.name for setting in SETTINGS} | {"origins"}


@pytest.mark.parametrize("documented", [omoide.open, Settings], ids=lambda documented: documented.__name__)
def test_the_docstring_describes_every_setting(documented):
    lines = inspect.getdoc(documented).splitlines()
    for setting in SETTINGS:
        assert f"{setting.name}: {setting.description}" in map(str.strip, lines)
