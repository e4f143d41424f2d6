from collections.abc import Iterator

import pytest

from omoide import errors
from omoide.errors import OmoideError
from omoide.interfaces.errors import ERROR_CODES, codes_for
from omoide.interfaces.mcp import jsonrpc


def subclasses(base: type[OmoideError]) -> Iterator[type[OmoideError]]:
    yield base
    for each in base.__subclasses__():
        yield from subclasses(each)


EVERY = [each for each in subclasses(OmoideError) if each.__module__.startswith("omoide.")]


@pytest.mark.parametrize("error", EVERY, ids=lambda error: error.__name__)
def test_every_error_has_a_row_of_its_own(error):
    assert error in ERROR_CODES, f"{error.__name__} needs a row in interfaces/errors.py"


def test_a_request_that_is_wrong_exits_with_2_and_one_that_cannot_be_carried_out_with_1():
    two = {error for error in EVERY if ERROR_CODES[error].exit_code == 2}
    assert two == {errors.InvalidInput, errors.SecretFound, errors.Unreadable, errors.NotAllowed}
    assert {ERROR_CODES[error].exit_code for error in EVERY} == {1, 2}


@pytest.mark.parametrize("error", EVERY, ids=lambda error: error.__name__)
def test_the_http_status_agrees_with_the_json_rpc_code(error):
    codes = ERROR_CODES[error]
    assert (codes.http_status, codes.json_rpc) in ((400, jsonrpc.INVALID_PARAMS), (200, jsonrpc.INTERNAL_ERROR))
    handshake = jsonrpc.RESOURCE_NOT_FOUND if error is errors.NotFound else codes.json_rpc
    assert codes.json_rpc_handshake == handshake


def test_an_error_of_a_caller_has_the_codes_of_its_base_class():
    class MissingPage(errors.NotFound):
        pass

    assert codes_for(MissingPage("no page 7")) == ERROR_CODES[errors.NotFound]
