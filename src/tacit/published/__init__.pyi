from tacit.published.gradient_em import ClippedGradientEM as ClippedGradientEM
from tacit.published.gradient_em import RobustEM as RobustEM
from tacit.published.gradient_em import RobustGradientEM as RobustGradientEM
from tacit.published.gradient_em import TruncatedGradientEM as TruncatedGradientEM
from tacit.published.lloyd import DPEMLloyd as DPEMLloyd
from tacit.published.lloyd import DPLloyd as DPLloyd
