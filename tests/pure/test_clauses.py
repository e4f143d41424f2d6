"""What a memory asks for and what it warns of, clause by clause."""

import pytest

from omoide.lifecycle.clauses import split_terms


@pytest.mark.parametrize(
    ("memory", "affirmed", "denied"),
    [
        ("Logging is slog. Zap is on its way out", "slog", "zap"),
        ("Expose it as 15432. 5432 collides with the local one", "15432", "5432"),
        ("Errors go through Log.err, because push_error never reaches Sentry", "log.err", "push_error"),
        ("Use httpx instead of requests", "httpx", "request"),
        ("ログの圧縮はzstd。gzipだと夜間に終わらないことがあった", "zstd", "gzip"),
        ("ひな形はkintai_v5.xlsxが最新。kintai_v4.xlsxは式が間違っている", "kintai_v5.xlsx", "kintai_v4.xlsx"),
        ("必ずpnpmで入れる。npmで触るとlockが壊れる", "pnpm", "npm"),
    ],
)
def test_what_a_clause_tells_harm_of_is_denied_and_the_rest_is_affirmed(memory, affirmed, denied):
    terms = split_terms([memory], [])
    assert affirmed in terms.affirmed
    assert denied in terms.denied
    assert denied not in terms.affirmed


@pytest.mark.parametrize("word", ["message", "broker", "bank", "dropdown", "broadcast", "stopwatch", "killswitch"])
def test_a_word_that_only_begins_like_one_of_harm_denies_nothing(word):
    assert split_terms([f"The {word} goes through relay_queue"], []).denied == {}


@pytest.mark.parametrize("harm", ["broke", "is broken", "breaks", "is banned", "was dropped", "is a mess", "lost data"])
def test_words_of_harm_deny_what_their_clause_names(harm):
    assert "relay_queue" in split_terms([f"relay_queue {harm}"], []).denied


def test_a_denial_of_everything_else_affirms_what_it_names():
    assert "uvicorn" in split_terms(["uvicorn以外は使わない"], []).affirmed
    assert "uvicorn" in split_terms(["Nothing but uvicorn is used"], []).affirmed


def test_what_a_rule_names_as_ruled_out_is_denied_wherever_it_stands():
    terms = split_terms(["moment and luxon are both known"], ["moment"])
    assert "moment" in terms.denied
    assert "luxon" in terms.affirmed
