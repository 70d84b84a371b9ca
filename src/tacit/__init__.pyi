from tacit.clusters import KMeans as KMeans
from tacit.linear import ERM as ERM
from tacit.linear import ElasticNet as ElasticNet
from tacit.linear import HuberRegressor as HuberRegressor
from tacit.linear import Lasso as Lasso
from tacit.linear import LinearRegression as LinearRegression
from tacit.linear import LinearSVC as LinearSVC
from tacit.linear import LogisticRegression as LogisticRegression
from tacit.linear import Ridge as Ridge
from tacit.mixture import GaussianMixture as GaussianMixture
from tacit.mixture import MixturePrior as MixturePrior
from tacit.moments import FactorAnalysis as FactorAnalysis
from tacit.moments import Moments as Moments
from tacit.privacy import Budget as Budget
from tacit.privacy import Certificate as Certificate
from tacit.privacy import Ledger as Ledger
from tacit.privacy import Plan as Plan
from tacit.regressions import MissingCovariateRegression as MissingCovariateRegression
from tacit.regressions import MixtureOfRegressions as MixtureOfRegressions
from tacit.regressions import SymmetricMixture as SymmetricMixture
from tacit.robust import RobustMean as RobustMean
from tacit.robust import mean as mean
from tacit.storage import load_model as load_model
from tacit.storage import save_model as save_model
from tacit.synthesis import TableModel as TableModel
from tacit.tables import Schema as Schema

__version__: str
