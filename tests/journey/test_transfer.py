"""Out and in again: nothing is lost, nothing comes in by halves, and an error names its row."""

import csv
import io
import json

import pytest
from hypothesis import given, settings, strategies as st

import omoide
from omoide import Draft, Scope
from omoide.transfer.export import export
from omoide.transfer.import_ import import_file
from omoide.transfer.selection import TransferSelection

FORMATS = ["json", "jsonl", "csv"]
ODD = [
    "plain",
    "日本語の記憶。改行\nあり",
    'quotes " and, commas; and \ttabs',
    "=SUM(A1:A9)",
    "+1 -1 @here",
    "\n\nblank lines around\n\n",
    "Windows\r\nlines\r\n",
    "old Mac\rlines",
    " spaces ",
    "null",
    "true",
    "0.50",
    "🎏 é é \u2028 \x85 \ufeff",
    "\x1b[31m escapes",
    "[1, 2]",
]


@pytest.fixture
def full(run):
    """A store with everything a memory can be."""
    for content in ODD:
        run("remember", "--", content)
    run(
        "remember", "text", "--topic", "given", "--type", "decision", "--tags", "a,B b,日本", "--key", "k", "--pin",
        "--example", "x = [1,\n2]", "--example", '"', "--source", "me", "--run", "ci/42", "--confidence", "0.1",
        "--expires", "2027-01-01T00:00Z",
    )  # several entries per line  # fmt: skip
    run("remember", "text two", "--topic", "given", "--type", "decision")
    run("remember", "everywhere", "--global", "--key", "null")
    run("remember", "one session", "--session", "月曜")
    run("remember", "theirs", "--project", "backend/py/bank")
    run("revise", "1", "--relevance", "0.30000000000000004", "--inactive")
    run("archive", "2")
    run("forget", "3")
    run("purge", "3", "--yes")
    run("forget", "4")
    run("link", "5", "supersedes", "6")
    run("link", "6", "contradicts", "5")
    run("link", "5", "derived_from", "k")
    run("recall", "text")
    return run


@pytest.mark.parametrize("form", FORMATS)
def test_export_import_export_is_byte_identical(full, place, form):
    first, second, other = place / f"first.{form}", place / f"second.{form}", str(place / "other.db")
    assert full("export", "--output", str(first)).code == 0
    done = full("import", str(first), "--store", other, "--json")
    assert (done.code, done.err) == (0, f"omoide: created the database {other}\n")
    assert done.data["added"] == len(ODD) - 1 + 4
    assert done.data["linked"] == 3
    assert full("export", "--output", str(second), "--store", other).code == 0
    assert second.read_bytes() == first.read_bytes()
    assert full("doctor", "--store", other).code == 0
    again = full("import", str(first), "--store", other, "--json").data
    assert (again["added"], again["replaced"], again["known"], again["linked"]) == (0, 0, done.data["added"], 0)


def test_the_three_formats_carry_the_same(full, place):
    shapes = {}
    for form in FORMATS:
        full("export", "--output", str(place / f"a.{form}"))
        full("import", str(place / f"a.{form}"), "--store", str(place / f"{form}.db"))
        shapes[form] = full("export", "--store", str(place / f"{form}.db")).out
    assert shapes["json"] == shapes["jsonl"] == shapes["csv"]


def test_an_imported_memory_is_found_linked_and_dated_as_before(full, place):
    full("export", "-o", str(place / "a.csv"))
    other = ["--store", str(place / "other.db")]
    before = full("show", "k", "--json").data
    full("import", str(place / "a.csv"), *other)
    found = full("recall", "日本語", *other, "--archived", "--json").data["memories"]
    assert [memory["content"] for memory in found] == [ODD[1]]
    after = full("show", "k", "--json", *other).data
    for name in ("id", "number", "created_at", "updated_at", "reference_count", "version", "links", "topic"):
        assert after[name] == before[name]


def test_a_spreadsheet_reads_the_csv(full):
    rows = list(csv.DictReader(io.StringIO(full("export", "--format", "csv").out, newline="")))
    contents = {row["content"] for row in rows}
    assert {"'=SUM(A1:A9)", "日本語の記憶。改行\nあり"} <= contents
    given = next(row for row in rows if row["key"] == "k")
    assert (given["tags"], given["pinned"], given["topic_given"]) == ("a,B b,日本", "true", "true")
    assert json.loads(given["examples"]) == ["x = [1,\n2]", '"']


RUN_BY_A_SPREADSHEET = "=+-@\t\r\n＝＋－＠"
_TEXTS = st.text(
    st.one_of(
        st.sampled_from("'" + RUN_BY_A_SPREADSHEET), st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    ),
    min_size=1,
    max_size=12,
).filter(lambda text: not text.isspace())


@settings(max_examples=40)
@given(st.lists(_TEXTS, min_size=1, max_size=5, unique=True), st.lists(_TEXTS, max_size=2))
def test_no_cell_of_a_csv_is_a_formula_and_every_text_comes_back(tmp_path_factory, contents, examples):
    place = tmp_path_factory.mktemp("csv")
    with omoide.open(place / "one.db") as one, omoide.open(place / "other.db") as other:
        one.remember_many([Draft(text, Scope.everywhere(), examples=examples) for text in contents])
        one.remember("text", scope=Scope.everywhere(), topic="=1+1", tags=["@a", "b"], source="'+x", key="-k")
        file = io.BytesIO()
        export(one, file, "csv", TransferSelection(), lambda _: None)
        rows = list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))
        assert not [cell for row in rows for cell in row if cell[:1] and cell[0] in RUN_BY_A_SPREADSHEET]
        import_file(
            other, file, "csv", name="it", here=Scope.everywhere(), chosen=TransferSelection(), dry_run=False,
            tick=lambda _: None,
        )  # several entries per line  # fmt: skip
        assert [memory for memory, _ in other.everything()] == [memory for memory, _ in one.everything()]


def test_a_leading_quote_of_the_author_is_kept(run, place):
    (place / "notes.csv").write_text("content\n'quoted'\n''=1\n=2\n", encoding="utf-8")
    run("import", "notes.csv")
    assert {row["content"] for row in run("list", "--json").data["memories"]} == {"'quoted'", "'=1", "=2"}


# filters


def _lines(done):
    return done.out.removesuffix("\n").split("\n") if done.out else []


def test_export_without_flags_is_everything_and_flags_narrow_it(full):
    def export_contents(*flags):
        return [json.loads(line)["content"] for line in _lines(full("export", "--format", "jsonl", *flags))]

    assert len(export_contents()) == len(ODD) - 1 + 4
    assert export_contents("--global") == ["everywhere"]
    assert export_contents("--project", "backend/py/bank") == ["theirs"]
    assert export_contents("--session", "月曜") == ["one session"]
    assert export_contents("--type", "decision") == ["text two"]
    assert export_contents("--tag", "b") == []
    assert export_contents("--tags", "A,日本") == ["text two"]
    assert export_contents("--state", "forgotten") == [ODD[3]]
    assert export_contents("--since", "2999-01-01") == []


def test_import_takes_only_what_the_filters_let_through(full, place):
    full("export", "-o", str(place / "a.jsonl"))

    def import_contents(name, *flags):
        store = ["--store", str(place / f"{name}.db")]
        full("import", str(place / "a.jsonl"), *flags, *store)
        return {json.loads(line)["content"] for line in _lines(full("export", "--format", "jsonl", *store))}

    assert import_contents("one", "--global") == {"everywhere"}
    assert import_contents("two", "--project", "backend/py/bank") == {"theirs"}
    assert import_contents("three", "--type", "decision") == {"text two"}
    assert import_contents("four", "--state", "archived") == {ODD[1]}
    assert import_contents("five", "--since", "2999-01-01") == set()


def test_links_to_memories_outside_the_file_are_reported_and_left_out(full, place):
    full("export", "-o", str(place / "a.json"), "--tag", "日本")
    full("export", "-o", str(place / "b.jsonl"))
    lines = [line for line in (place / "b.jsonl").read_text(encoding="utf-8").split("\n") if '"supersedes"' in line]
    (place / "b.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = full("import", str(place / "b.jsonl"), "--store", str(place / "other.db"))
    assert done.code == 0
    assert "2 links to memories that do not exist" in done.err


# rows without an id


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            "jsonl",
            '{"content": "一"}\r\n\r\n{"content": "two", "topic": "t", "tags": ["x"], "scope": {"project": "bank"}}',
        ),
        ("json", '[{"content": "一"}, {"content": "two", "topic": "t", "tags": ["x"], "scope": {"project": "bank"}}]'),
        ("json", '{"memories": [{"content": "一"}, {"content": "two", "tags": ["x"], "scope": {"project": "bank"}}]}'),
        ("csv", "content,topic,tags,project\r\n一,,,\r\ntwo,t,x,bank\r\n"),
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_rows_without_an_id_are_remembered_where_they_say_or_here(run, place, form, text, mark):
    (place / f"in.{form}").write_text(mark + text, encoding="utf-8", newline="")
    done = run("import", f"in.{form}", "--json")
    assert done.code == 0, done.err
    assert done.data["added"] == 2
    assert run("recall", "一", "--json").data["total_count"] == 1
    [two] = run("list", "--project", "bank", "--json").data["memories"]
    assert (two["content"], two["tags"], two["source"]) == ("two", ["x"], "human")
    assert run("import", f"in.{form}", "--json").data["known"] == 2


def test_a_run_may_be_a_number_in_a_file(run, place):
    (place / "in.jsonl").write_text('{"content": "x", "source": "run", "source_run_id": 42}', encoding="utf-8")
    assert run("import", "in.jsonl").code == 0
    [one] = run("list", "--json").data["memories"]
    assert (one["source"], one["source_run_id"]) == ("run", "42")


def test_json_of_list_and_recall_can_be_imported(run, place):
    run("remember", "text", "--topic", "t", "--tag", "a")
    run("remember", "untitled")
    for command in (["list"], ["recall", "text"]):
        (place / "in.json").write_text(run(*command, "--json").out, encoding="utf-8")
        other = ["--store", str(place / f"{command[0]}.db")]
        assert run("import", "in.json", *other).code == 0
        theirs, ours = run("show", "1", "--json", *other).data, run("show", "1", "--json").data
        assert {**theirs, "last_accessed_at": 0} == {**ours, "last_accessed_at": 0}


def test_standard_input_needs_a_format(run):
    assert run("import", "-", input='{"content": "x"}').code == 2
    assert run("import", "-", "--format", "jsonl", input='{"content": "x"}').code == 0
    assert run("list", "--json").data["total_count"] == 1


def test_imported_numbers_are_assigned_before_drafts_take_new_ones(run, place):
    run("remember", "numbered")
    line = run("export", "--format", "jsonl").out
    (place / "in.jsonl").write_text('{"content": "draft"}\n' + line, encoding="utf-8")
    run("import", "in.jsonl", "--store", str(place / "other.db"))
    assert run("show", "1", "--store", str(place / "other.db"), "--json").data["content"] == "numbered"


# two stores, one memory


def test_the_later_change_wins_and_the_earlier_becomes_history(run, place):
    other = ["--store", str(place / "other.db")]
    run("remember", "first", "--key", "k")
    run("export", "-o", "a.json")
    run("import", "a.json", *other)
    run("revise", "k", "second", *other)
    run("export", "-o", "b.json", *other)
    assert run("import", "b.json", "--json").data["replaced"] == 1
    assert [v["content"] for v in run("history", "k", "--json").data["versions"]] == ["first", "second"]
    assert run("import", "a.json", "--json").data["known"] == 1
    assert run("show", "k", "--json").data["content"] == "second"


def test_a_dry_run_reports_and_stores_nothing(run, place):
    (place / "in.jsonl").write_text('{"content": "x"}\n{"content": "y"}\n')
    done = run("import", "in.jsonl", "--dry-run")
    assert done.out == "would be: 2 added, 0 replaced, 0 known\n"
    assert run("import", "in.jsonl", "--dry-run", "--json").data["added"] == 2
    assert run("stats", "--json").data["memories"] == 0


# everything or nothing

GOOD = '{"content": "good"}\n'
ID = "0198a1b2-1111-7abc-8def-0123456789ab"


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.jsonl", GOOD + '{"contnet": "x", "content": "y"}', ["line 2", "contnet"]),
        ("a.jsonl", GOOD + '{"topic": "x"}', ["line 2", "content"]),
        ("a.jsonl", GOOD + '{"content": "x", "tags": [1]}', ["line 2", "tags[0]"]),
        ("a.jsonl", GOOD + '{"content": "x", "confidence": 3}', ["line 2", "confidence"]),
        ("a.jsonl", GOOD + '{"content": "x", "created_at": "today"}', ["line 2", "created_at", "today"]),
        ("a.jsonl", GOOD + '{"content": "x", "created_at": "2026-01-01"}', ["line 2", "time zone"]),
        ("a.jsonl", GOOD + '{"content": "x", "id": "12"}', ["line 2", "id", "UUID"]),
        ("a.jsonl", GOOD + f'{{"content": "x", "id": "{ID}", "number": 5000000000}}', ["line 2", "number"]),
        ("a.jsonl", GOOD + f'{{"content": "x", "id": "{ID}", "source": "\\u0007"}}', ["line 2", "source"]),
        ("a.jsonl", GOOD + '{"content": "x", "state": "forgotten"}', ["line 2", "state"]),
        ("a.jsonl", GOOD + '{"content": "x", "state": "lost"}', ["line 2", "state"]),
        ("a.jsonl", GOOD + '{"content": "x", "scope": {"session": "s"}}', ["line 2", "session"]),
        ("a.jsonl", GOOD + '{"content": "x", "scope": {"project": "../etc"}}', ["line 2", "project"]),
        ("a.jsonl", GOOD + '{"content": "x", "type": "nonsense"}', ["line 2", "nonsense"]),
        ("a.jsonl", GOOD + '{"content": "token ghp_' + "a1B2" * 9 + '"}', ["line 2", "secret"]),
        ("a.jsonl", GOOD + '{"content": "cut o', ["line 2", "truncated"]),
        ("a.jsonl", GOOD.encode() + '{"content": "日本"}'.encode("shift-jis"), ["line 2", "UTF-8"]),
        ("a.jsonl", GOOD.encode("utf-16"), ["UTF-16"]),
        ("a.json", "", ["empty"]),
        ("a.json", '{"memories": [{"content": "x"}, {"content": ', ["truncated"]),
        ("a.json", '[{"content": "x"}, {"content": 5}]', ["row 2", "content"]),
        ("a.json", '{"memories": 5}', ["memories"]),
        ("a.json", '{"other": []}', ["memories"]),
        ("a.json", '{"format": "omoide 9", "memories": []}', ["omoide 9", "upgrade"]),
        ("a.json", "[" * 100_000, ["a.json"]),
        ("a.json", "5", ["a.json"]),
        ("a.csv", "", ["empty"]),
        ("a.csv", "topic\nx\n", ["content"]),
        ("a.csv", "content,colour\nx,red\n", ["line 1", "colour"]),
        ("a.csv", "content,content\nx,y\n", ["line 1", "twice"]),
        ("a.csv", 'content\n"two\nlines"\nx,y\n', ["line 4", "2 cells"]),
        ("a.csv", 'content\nx\n"never closed\n', ["line 3", "CSV"]),
        ("a.csv", "content,pinned\nx,maybe\n", ["line 2", "pinned", "true or false"]),
        ("a.csv", "content,confidence\nx,high\n", ["line 2", "confidence"]),
        ("a.csv", "content,examples\nx,[\n", ["line 2", "examples"]),
        ("a.csv", b"content\ngood\n" + "日本\n".encode("shift-jis"), ["UTF-8"]),
    ],
)
def test_one_invalid_row_imports_nothing_and_is_named(run, place, name, data, says):
    (place / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    done = run("import", name)
    assert (done.code, done.out) == (2, "")
    for word in [name, *says]:
        assert word in done.err
    assert done.err.count("\n") == 1
    assert run("stats", "--json").data["memories"] == 0


def test_a_taken_key_imports_nothing_and_names_the_row(run, place):
    run("remember", "mine", "--key", "k")
    (place / "in.jsonl").write_text(
        GOOD + json.dumps({"id": ID, "content": "theirs", "key": "k", "scope": {"project": "shop"}})
    )
    done = run("import", "in.jsonl")
    assert done.code == 1
    assert "line 2" in done.err
    assert "'k'" in done.err
    assert run("list", "--json").data["total_count"] == 1


def test_an_empty_file_imports_nothing(run, place):
    (place / "in.jsonl").write_bytes(b"")
    assert run("import", "in.jsonl").out == "0 added, 0 replaced, 0 known\n"


def test_an_unreadable_file_is_an_error(run, place):
    assert "cannot be read" in run("import", "missing.json").err
    assert "--format" in run("import", "notes.txt").err
    assert run("import", str(place), "--format", "csv").code == 2


# the file that is written


def test_the_file_is_for_its_owner_alone_and_never_overwritten_by_accident(run, place):
    run("remember", "x")
    assert run("export", "--output", "out.json").code == 0
    assert (place / "out.json").stat().st_mode & 0o777 == 0o600
    before = (place / "out.json").read_bytes()
    run("remember", "y")
    done = run("export", "--output", "out.json")
    assert done.code == 1
    assert "--force" in done.err
    assert (place / "out.json").read_bytes() == before
    assert run("export", "--output", "out.json", "--force").code == 0
    assert (place / "out.json").read_bytes() != before
    assert [file.name for file in place.iterdir() if "part" in file.name] == []


def test_the_format_comes_from_the_name_or_the_flag(run, place):
    run("remember", "x")
    run("export", "-o", "a.CSV")
    assert (place / "a.CSV").read_text().startswith("id,number,layer,project,session,key")
    assert run("export", "-o", "a.txt").code == 2
    assert run("export", "-o", "a.txt", "--format", "jsonl").code == 0
    assert json.loads(run("export", "--json").out)["format"] == "omoide 1"


def test_an_unwritable_target_is_an_error(run):
    run("remember", "x")
    done = run("export", "-o", "no/such/directory/a.json")
    assert done.code == 1
    assert "cannot be written" in done.err


def test_ten_thousand_rows_are_imported(run, place, long):
    count = 100_000 if long else 10_000
    with (place / "in.jsonl").open("w", encoding="utf-8") as file:
        for n in range(count):
            file.write(json.dumps({"content": f"記憶 {n}", "scope": {"project": f"p{n % 7}"}}, ensure_ascii=False) + "\n")
    assert run("import", "in.jsonl", "--json").data["added"] == count
    assert run("export", "-o", "out.csv").code == 0
    assert run("import", "out.csv", "--store", "other.db", "--json").data["added"] == count
