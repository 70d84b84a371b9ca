"""Pictures of a private model, and the HTML report that goes with it.

Everything shown here is computed from private parameters and from the certificate; no row is ever seen. How each model
is presented is in the registry, :mod:`tacit.models`, which is built on this room; so the two functions that take any
model are found there.
"""

from typing import TYPE_CHECKING

from tacit.lazy import lazy_names

if TYPE_CHECKING:
    from tacit.models.reports import report_html, write_report
    from tacit.report.plots import plot_components, plot_privacy_curve
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "tacit.models.reports": ["report_html", "write_report"],
            "tacit.report.plots": ["plot_components", "plot_privacy_curve"],
        },
    )

__all__ = ["plot_components", "plot_privacy_curve", "report_html", "write_report"]
