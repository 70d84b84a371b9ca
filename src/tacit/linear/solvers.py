"""The solvers by name."""

from tacit.linear.first_order import ACCELERATED_MIRROR_DESCENT, GRADIENT_DESCENT, STOCHASTIC_GRADIENT
from tacit.linear.frank_wolfe import FRANK_WOLFE
from tacit.linear.newton import NEWTON
from tacit.linear.perturbation import OBJECTIVE_PERTURBATION, OUTPUT_PERTURBATION
from tacit.linear.robust_descent import ROBUST_DESCENT
from tacit.linear.solver import Solver
from tacit.linear.variance_reduced import KATYUSHA, SVRG, SVRG_PLUS_PLUS

SOLVERS: dict[str, Solver] = {
    "newton": NEWTON,
    "gradient": GRADIENT_DESCENT,
    "accmd": ACCELERATED_MIRROR_DESCENT,
    "sgd": STOCHASTIC_GRADIENT,
    "svrg": SVRG.solver,
    "katyusha": KATYUSHA.solver,
    "svrg++": SVRG_PLUS_PLUS.solver,
    "robust": ROBUST_DESCENT,
    "output": OUTPUT_PERTURBATION,
    "objective": OBJECTIVE_PERTURBATION,
    "frank_wolfe": FRANK_WOLFE,
}
