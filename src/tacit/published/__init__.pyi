from tacit.published.lloyd import DPEMLloyd as DPEMLloyd
from tacit.published.lloyd import DPLloyd as DPLloyd
