"""The everyday commands: store, find, change, and the history."""

import json
from datetime import UTC, datetime, timedelta

import pytest

FIELDS = [
    "id", "number", "scope", "key", "type", "topic", "content", "tags", "examples", "source", "by", "by_role",
    "source_run_id", "confidence", "relevance", "reference_count", "pinned", "original_prompt", "state",
    "created_at", "updated_at", "last_accessed_at", "expires_at", "version",
]  # several entries per line  # fmt: skip


def numbers(done):
    return [memory["number"] for memory in done.data["memories"]]


# keep


def test_remember_prints_action_and_memory(run):
    done = run("remember", "認証は JWT を採用", "--topic", "API auth", "--type", "decision", "--tag", "api", "--json")
    assert done.code == 0
    assert list(done.data) == ["memory_id", "action", "similar_count", "memory"]
    assert list(done.data["memory"]) == FIELDS
    assert done.data["memory"]["id"] == done.data["memory_id"]
    assert (done.data["action"], done.data["memory"]["content"]) == ("created", "認証は JWT を採用")
    again = run("remember", "認証は OAuth に変更", "--topic", "API auth", "--type", "decision", "--json")
    assert (again.data["action"], again.data["memory"]["number"]) == ("updated", done.data["memory"]["number"])


def test_every_field_can_be_given(run):
    memory = run(
        "remember", "text", "--topic", "t", "--type", "warning", "--tag", "a", "--tag", "b", "--tags", "c, d",
        "--key", "k", "--example", "x = 1", "--example", "y = 2", "--source", "https://example.org", "--run", "ci/42",
        "--confidence", "0.7", "--pin", "--expires", "90d", "--json",
    ).data["memory"]  # several entries per line  # fmt: skip
    assert (memory["topic"], memory["type"], memory["key"]) == ("t", "warning", "k")
    assert memory["tags"] == ["a", "b", "c", "d"]
    assert memory["examples"] == ["x = 1", "y = 2"]
    assert (memory["source"], memory["source_run_id"]) == ("https://example.org", "ci/42")
    assert (memory["confidence"], memory["pinned"]) == (0.7, True)
    left = datetime.fromisoformat(memory["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=89) < left < timedelta(days=91)


def test_memories_of_a_run_have_its_id(run, monkeypatch):
    assert run("remember", "zebra", "--json").data["memory"]["source_run_id"] is None
    monkeypatch.setenv("OMOIDE_RUN", "42")
    assert run("remember", "okapi", "--json").data["memory"]["source_run_id"] == "42"
    monkeypatch.setenv("OMOIDE_RUN", "43")
    again = run("remember", "okapi", "--json").data
    assert (again["action"], again["memory"]["source_run_id"]) == ("unchanged", "42")
    assert run("remember", "one", "--topic", "t", "--json").data["memory"]["source_run_id"] == "43"
    monkeypatch.setenv("OMOIDE_RUN", "44")
    again = run("remember", "two", "--topic", "t", "--json").data
    assert (again["action"], again["memory"]["source_run_id"]) == ("updated", "44")
    revised = run("revise", "2", "--run", "nightly#7", "--json").data
    assert (revised["source_run_id"], revised["version"]) == ("nightly#7", 2)
    assert "nightly#7" in run("show", "2").out
    assert "source_run_id" in run("history", "2").out
    assert run("revise", "2", "--run", "", "--json").data["source_run_id"] is None
    monkeypatch.setenv("OMOIDE_RUN", "two words")
    refused = run("remember", "gnu")
    assert refused.code == 2
    assert "OMOIDE_RUN" in refused.err
    monkeypatch.setenv("OMOIDE_RUN", "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6")
    assert "GitHub token" in run("remember", "gnu").err


def test_memories_from_file_edits_have_no_run_id(run, place, monkeypatch):
    assert run("mirror", "add", "notes", "--format", "entries").code == 0
    (place / "notes" / "human.md").write_text("---\nkey: human\n---\nwritten by hand\n", encoding="utf-8")
    monkeypatch.setenv("OMOIDE_RUN", "42")
    assert run("recall", "hand", "--json").data["total_count"] == 1
    assert run("show", "human", "--json").data["source_run_id"] is None


def test_digits_that_are_both_a_number_and_a_key_are_refused(run):
    for key in ("a", "b", "1"):
        run("remember", f"under {key}", "--key", key)
    asked = run("forget", "1")
    assert asked.code == 1
    assert "#3" in asked.err
    assert run("show", "#1", "--json").data["content"] == "under a"
    assert run("show", "#3", "--json").data["content"] == "under 1"
    assert run("show", "2", "--json").data["content"] == "under b"
    run("forget", "#3")
    assert run("show", "1", "--json").data["content"] == "under a"


def test_standard_input_keeps_everything_but_the_last_line_end(run):
    memory = run("remember", "-", "--json", input="  一行目\n\n  二行目  \n\n".encode()).data["memory"]
    assert memory["content"] == "  一行目\n\n  二行目  \n"


def test_standard_input_that_is_not_utf_8_is_refused(run):
    done = run("remember", "-", input="日本".encode("shift-jis"))
    assert done.code == 2
    assert "not UTF-8" in done.err


def test_flags_set_the_scope(run):
    scopes = [
        run("remember", f"in {flags}", *flags, "--json").data["memory"]["scope"]
        for flags in ([], ["--global"], ["--project", "backend/bank"], ["--session", "monday"])
    ]
    assert scopes == [
        {"layer": "project", "project": "shop", "session": None},
        {"layer": "global", "project": None, "session": None},
        {"layer": "project", "project": "backend/bank", "session": None},
        {"layer": "session", "project": "shop", "session": "monday"},
    ]
    clash = run("remember", "x", "--global", "--project", "bank")
    assert (clash.code, clash.out) == (2, "")


def test_the_store_flag_selects_the_database(run, place):
    run("remember", "elsewhere", "--store", str(place / "other.db"))
    assert run("list", "--json").data["total_count"] == 0
    assert run("list", "--json", "--store", str(place / "other.db")).data["total_count"] == 1


def test_a_secret_is_refused_and_nothing_is_printed_on_stdout(run):
    done = run("remember", "token ghp_" + "a1B2" * 9, "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("omoide: ")


# find


def test_recall_returns_score_reason_and_total(run):
    run("remember", "有効期限は 15 分", "--topic", "API auth")
    run("remember", "pnpm を使用")
    found = run("recall", "有効期限", "--json").data
    assert list(found) == ["memories", "total_count"]
    assert found["total_count"] == 1
    assert list(found["memories"][0]) == [*FIELDS, "score", "why"]
    assert found["memories"][0]["score"] > 0


def test_recall_without_hits_reports_it_on_stderr(run):
    done = run("recall", "nothing", "--json")
    assert (done.code, done.data) == (0, {"memories": [], "total_count": 0})
    plain = run("recall", "nothing")
    assert (plain.code, plain.out) == (0, "")
    assert "nothing found" in plain.err


def test_list_filters_and_pages(run):
    for n in range(5):
        run("remember", f"note {n}", "--tag", "even" if n % 2 == 0 else "odd", "--type", "warning" if n == 4 else "note")
    run("remember", "everywhere", "--global")
    run("remember", "one session", "--session", "monday")
    assert run("list", "--json").data["total_count"] == 7
    assert numbers(run("list", "--tag", "EVEN", "--json")) == [5, 3, 1]
    assert numbers(run("list", "--tags", "odd", "--json")) == [4, 2]
    assert numbers(run("list", "--type", "warning", "--json")) == [5]
    assert numbers(run("list", "--layer", "global", "--layer", "session", "--json")) == [7, 6]
    assert numbers(run("list", "--limit", "2", "--offset", "1", "--json")) == [6, 5]
    assert numbers(run("list", "--since", "1h", "--limit", "1", "--json")) == [7]
    assert run("list", "--since", "2999-01-01", "--json").data["memories"] == []


def test_list_shows_other_states_on_request(run):
    for n in range(4):
        run("remember", f"note {n}")
    run("forget", "1")
    run("archive", "2")
    run("revise", "3", "--inactive")
    assert numbers(run("list", "--json")) == [4]
    assert numbers(run("list", "--state", "forgotten", "--state", "archived", "--json")) == [2, 1]
    assert sorted(numbers(run("list", "--all-states", "--json"))) == [1, 2, 3, 4]
    assert "inactive" in run("list", "--all-states").out


def test_the_list_has_one_line_per_memory(run):
    run("remember", "認証は JWT を採用", "--topic", "認証", "--type", "decision", "--tags", "api,auth")
    title, row = run("list").out.splitlines()
    assert title.split() == ["#", "type", "topic", "tags", "updated", "layer"]
    assert row.startswith("1  decision  認証   api, auth")
    assert row.endswith("project")


@pytest.mark.parametrize("ref", ["1", "#1", "auth"])
def test_a_memory_is_shown_by_number_or_key(run, ref):
    run("remember", "text", "--key", "auth")
    assert run("show", ref, "--json").data["content"] == "text"


def test_show_prints_text_fields_and_links(run):
    run("remember", "old way\nin two lines", "--topic", "old", "--example", "print(1)")
    run("remember", "new way", "--topic", "new")
    run("link", "2", "supersedes", "1")
    one = run("show", "1", "--json").data
    assert list(one) == [*FIELDS, "links"]
    assert [link["kind"] for link in one["links"]] == ["supersedes"]
    shown = run("show", "1", "2").out
    for part in ("old way\nin two lines", "print(1)", one["id"], "#2 supersedes #1", "project shop"):
        assert part in shown
    assert [memory["topic"] for memory in run("show", "1", "2", "--json").data["memories"]] == ["old", "new"]
    assert run("show", "9").code == 1


def test_an_id_of_another_project_is_not_found(run):
    theirs = run("remember", "theirs", "--project", "bank", "--json").data["memory_id"]
    done = run("show", theirs, "--json")
    assert (done.code, done.out) == (1, "")
    assert "no memory" in done.err


def test_escape_sequences_in_a_memory_never_reach_the_terminal(run):
    run("remember", "\x1b[31mred\x1b]0;title\x07 \u202eevil", "--example", "\x9b2J")
    for command in (["recall"], ["recall", "evil"], ["list"], ["show", "1"], ["history", "1"], ["forget", "1"]):
        done = run(*command)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.out + done.err), command
        assert "evil" in done.out


# change


def test_revise_changes_only_the_given_fields(run):
    run("remember", "first", "--topic", "t", "--tags", "a,b", "--key", "k", "--expires", "1d", "--example", "e")
    revised = run("revise", "k", "second", "--type", "decision", "--relevance", "0.9", "--json").data
    assert (revised["content"], revised["type"], revised["relevance"]) == ("second", "decision", 0.9)
    assert (revised["topic"], revised["tags"], revised["key"], revised["examples"]) == ("t", ["a", "b"], "k", ["e"])
    assert revised["version"] == 2
    revised = run("revise", "1", "--no-key", "--no-expiry", "--source", "me", "--json").data
    assert (revised["key"], revised["expires_at"], revised["source"]) == (None, None, "me")


def test_revise_adds_removes_and_replaces_tags(run):
    run("remember", "text", "--tags", "a,b")
    assert run("revise", "1", "--add-tag", "c", "--remove-tag", "A", "--json").data["tags"] == ["b", "c"]
    assert run("revise", "1", "--tag", "x", "--tags", "y", "--json").data["tags"] == ["x", "y"]
    assert run("revise", "1", "--tags", "", "--json").data["tags"] == []


def test_revise_reads_standard_input_and_switches_off_and_on(run):
    run("remember", "text")
    assert run("revise", "1", "-", "--json", input="from a pipe\n").data["content"] == "from a pipe"
    assert run("revise", "1", "--inactive", "--json").data["state"] == "inactive"
    assert run("revise", "1", "--active", "--json").data["state"] == "active"


def test_revise_refuses_to_overwrite_a_later_version(run):
    run("remember", "text")
    assert run("revise", "1", "mine", "--if-version", "1").code == 0
    done = run("revise", "1", "yours", "--if-version", "1")
    assert done.code == 1
    assert "version 2" in done.err
    assert run("show", "1", "--json").data["content"] == "mine"


def test_fixing_the_relevance_of_a_later_version_is_refused_and_changes_nothing(run):
    run("remember", "text")
    run("revise", "1", "mine")
    for flag in ("--fix", "--release"):
        done = run("revise", "1", "yours", flag, "--if-version", "1")
        assert (done.code, "version 2" in done.err) == (1, True)
        assert run("revise", "1", flag, "--if-version", "1").code == 1
    assert run("show", "1", "--json").data["content"] == "mine"
    assert run("revise", "1", "--fix", "--if-version", "2").out.startswith("relevance fixed")
    assert run("revise", "1", "--release").out.startswith("relevance released")
    assert run("revise", "1", "theirs", "--fix").out.startswith("revised")


def test_a_worker_who_may_not_fix_the_relevance_does_not_change_the_text_either(run, monkeypatch):
    run("remember", "text")
    monkeypatch.setenv("OMOIDE_ROLE", "worker")
    assert run("revise", "1", "new", "--fix").code != 0
    assert run("show", "1", "--json").data["content"] == "text"


def test_revise_without_changes_is_refused(run):
    run("remember", "text", "--key", "k")
    assert run("revise", "1").code == 2
    assert run("revise", "1", "--key", "x", "--no-key").code == 2


def test_several_memories_are_changed_in_one_call_and_each_is_printed(run):
    for n in range(3):
        run("remember", f"note {n}")
    done = run("forget", "1", "2")
    assert [line.split()[:2] for line in done.out.splitlines()] == [["forgotten", "#1"], ["forgotten", "#2"]]
    assert run("list", "--json").data["total_count"] == 1
    assert numbers(run("restore", "1", "2", "--json")) == [1, 2]
    assert run("list", "--json").data["total_count"] == 3
    assert run("archive", "3", "--json").data["state"] == "archived"
    assert numbers(run("recall", "note", "--archived", "--json")) == [3]


def test_a_missing_memory_does_not_stop_the_others(run):
    run("remember", "one")
    run("remember", "two")
    done = run("forget", "1", "77", "2")
    assert done.code == 1
    assert "77" in done.err
    assert run("list", "--json").data["total_count"] == 0


def test_pin_and_unpin(run):
    run("remember", "text")
    assert run("pin", "1", "--json").data["pinned"] is True
    assert run("pin", "1", "--unpin", "--json").data["pinned"] is False


def test_promote_goes_one_step_or_to_the_given_layer(run):
    run("remember", "a", "--session", "monday")
    run("remember", "b", "--session", "monday")
    run("remember", "c", "--session", "monday")
    assert run("promote", "1", "--json").data["scope"]["layer"] == "project"
    assert run("promote", "1", "--json").data["scope"]["layer"] == "global"
    assert run("promote", "2", "--to", "global", "--json").data["scope"]["layer"] == "global"
    assert run("promote", "3", "--to", "project", "--json").data["scope"]["layer"] == "project"
    assert run("promote", "2").code == 2


def test_links_are_created_shown_and_removed(run):
    run("remember", "a")
    run("remember", "b")
    assert run("link", "1", "relates", "2", "--json").data["action"] == "linked"
    assert run("link", "1", "relates", "2", "--json").data["action"] == "unchanged"
    assert "#1 relates #2" in run("link", "1", "relates", "2", "--remove").out
    assert run("show", "1", "--json").data["links"] == []
    assert run("link", "1", "hates", "2").code == 2


# look back


def test_history_shows_who_changed_what(run):
    run("remember", "有効期限は 15 分\nRS256", "--topic", "auth")
    run("revise", "1", "有効期限は 30 分\nRS256", "--type", "decision")
    text = run("history", "1").out
    assert "version 2" in text
    assert "tester, owner (cli): content, type" in text
    assert "-有効期限は 15 分\n" in text
    assert "+有効期限は 30 分\n" in text
    assert "type: note → decision" in text
    versions = run("history", "1", "--json").data["versions"]
    assert [version["content"][:9] for version in versions] == ["有効期限は 15 ", "有効期限は 30 "]
    assert versions[1]["changed"] == ["content", "type"]
    assert versions[1]["actor"] == {"name": "tester", "role": "owner", "via": "cli"}
    assert "+有効期限は 30 分" in versions[1]["diff"]


def test_events_are_listed_newest_first(run):
    run("remember", "a")
    run("remember", "b")
    run("forget", "1")
    events = run("events", "--json").data["events"]
    assert [(event["action"], event["memory_number"]) for event in events] == [
        ("forgotten", 1), ("remembered", 2), ("remembered", 1),
    ]  # several entries per line  # fmt: skip
    assert len(run("events", "1", "--json").data["events"]) == 2
    assert len(run("events", "--limit", "1", "--json").data["events"]) == 1
    assert run("events", "--since", "2999-01-01", "--json").data["events"] == []
    assert "forgotten" in run("events").out.splitlines()[1]


# the whole of it


def test_json_has_a_fixed_order_and_unescaped_characters(run):
    run("remember", "思い出 🎏 é")
    text = run("show", "1", "--json").out
    assert "思い出 🎏 é" in text
    assert list(json.loads(text))[: len(FIELDS)] == FIELDS


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["remembr", "x"], "did you mean remember?"),
        (["recall", "--limit", "many"], "--limit"),
        (["recall", "x", "--limit", "0"], "limit must be at least 1, got 0"),
        (["similar", "1", "--limit", "0"], "limit must be at least 1, got 0"),
        (["similar", "1", "--limit", "-1"], "limit must be at least 1, got -1"),
        (["recall", "x", "--since", "yesterday"], "yesterday"),
        (["remember", "x", "--type", "nonsense"], "nonsense"),
        (["remember", "x", "--confidence", "7"], "confidence"),
        (["remember", "   "], "empty"),
        (["list", "--state", "lost"], "lost"),
        (["remember"], "there is no text to remember"),
    ],
)
def test_a_wrong_request_exits_with_2_and_a_remedy(run, arguments, says):
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
