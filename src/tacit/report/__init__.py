"""Pictures of a private model, and the HTML report that goes with it.

Everything shown here is computed from private parameters and from the certificate; no row is ever seen.
"""

from tacit.report.page import report_html, write_report
from tacit.report.plots import plot_components, plot_privacy_curve

__all__ = ["plot_components", "plot_privacy_curve", "report_html", "write_report"]
