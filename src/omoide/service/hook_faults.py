"""Log what failed in hooks, and in learning from what they recorded: as a line beside the database, without secrets."""

from omoide import model
from omoide.errors import OmoideError
from omoide.files.hook_faults import append_fault, read_faults
from omoide.guard import permissions, secrets
from omoide.model import Actor, HookCall, HookEvent, HookRecord, HookState
from omoide.service.recorded_names import identifier

_LONGEST_SESSION = 200


def log_fault(store: str, call: HookCall | None, error: Exception, seconds: float) -> None:
    """Log that a call failed after so many seconds, in the file beside the store.

    `call`: None where not even the input could be read, or no call was made. Where it cannot be logged nothing is done.
    """
    record = HookRecord(
        0,
        model.now(),
        identifier(call.client) if call else "",
        call.event if call else HookEvent.OTHER,
        identifier(call.session)[:_LONGEST_SESSION] if call else "",
        state=HookState.FAILED,
        seconds=seconds,
        fault=_describe(error),
    )
    append_fault(store, record)


def logged_faults(store: str, actor: Actor) -> list[HookRecord]:
    """Return the calls that are logged beside a store, newest first: all that there is where it cannot be opened.

    Raises NotAllowed for a role that may not see all projects.
    """
    permissions.require(actor, "hook_calls", "see the calls of hooks")
    return read_faults(store)


def _describe(error: Exception) -> str:
    """A fault as one line without secrets; of a bug, only where it is: its message may contain anything."""
    if isinstance(error, (OmoideError, OSError)):
        return " ".join(secrets.redact(str(error)).split())[:300]
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = "" if trace is None else trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    place = "" if trace is None else f" in {file}, line {trace.tb_lineno}"
    return f"{type(error).__name__}{place}: please report it"
