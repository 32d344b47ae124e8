from .costs import posterior_price as posterior_price
from .costs import printed_price as printed_price
from .windows import Windows as Windows
