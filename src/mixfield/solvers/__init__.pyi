from .mean_field import Solver as Solver
from .mean_field import mean_field as mean_field
from .mode import Mode as Mode
from .temperature import critical_temperature as critical_temperature
