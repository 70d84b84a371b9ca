"""Pictures of a private model, and the HTML report that goes with it.

Everything shown here is computed from private parameters and from the certificate; no row is ever seen.
"""

from tacit.report.page import report_html, write_report

__all__ = ["report_html", "write_report"]
