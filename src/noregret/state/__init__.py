"""The state of a learner: fields, the stores behind them, growth, savepoints, files."""

from noregret.state.fields import Field as Field
from noregret.state.fields import averaged as averaged
from noregret.state.fields import centre as centre
from noregret.state.fields import counts as counts
from noregret.state.fields import covariance as covariance
from noregret.state.fields import grouped as grouped
from noregret.state.fields import lazy as lazy
from noregret.state.fields import lazy_groups as lazy_groups
from noregret.state.fields import log_weights as log_weights
from noregret.state.fields import plain as plain
from noregret.state.fields import positive as positive
from noregret.state.fields import random_init as random_init
from noregret.state.fields import reservoir as reservoir
from noregret.state.fields import scaled as scaled
from noregret.state.fields import snapshot as snapshot
from noregret.state.fields import top_k as top_k
