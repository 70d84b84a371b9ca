from tacit.models.reports import report_html as report_html
from tacit.models.reports import write_report as write_report
from tacit.report.plots import plot_components as plot_components
from tacit.report.plots import plot_privacy_curve as plot_privacy_curve
