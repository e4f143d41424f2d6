"""Whether memories help in a project: outcomes of runs with memories against those without."""

from typing import TYPE_CHECKING

from omoide.guard import permissions
from omoide.model import Scope
from omoide.service.core import Core
from omoide.service.runs import known_runs

if TYPE_CHECKING:  # loads with the first report
    from omoide.lifecycle.run_statistics import RunReport


class RunReports(Core):
    """Operations that compare runs."""

    def run_report(self, *, scope: Scope) -> "RunReport":
        """Compare success and duration of the runs of a project with memories in their prompts and without.

        Runs without memories are those of the setting `holdout`. Each figure has a 95 % confidence interval; with too few
        runs the report says so instead.
        """
        permissions.require(self._actor, "run_report")
        from omoide.lifecycle.run_statistics import report  # lazy: only this needs it

        with self._read(scope) as tx:
            return report(known_runs(tx, self._actor, scope))
