"""Online dictionary learning: atoms of which every row is a sum of few."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import RowsLike
from noregret.decomposition.atoms import Atoms
from noregret.decomposition.base import Scored, UnsupervisedLearner
from noregret.decomposition.component_table import describe_components
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.lasso_loops import solve_lasso
from noregret.decomposition.matrix_rows import LARGEST, MatrixRows, read_matrix, row_dots, row_products, take_rows
from noregret.decomposition.memory import memory_in_words
from noregret.decomposition.parameters import batch_param
from noregret.decomposition.pursuit import find_sparse_codes
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Param

Floats = NDArray[np.float64]
MAIRAL = "Mairal, Bach, Ponce, Sapiro, Online dictionary learning for sparse coding, ICML 2009"
ROUNDING = 1e-9  # by how much the length of an atom may be above 1


@register_kind
@method_card(
    name="dictionary",
    paper=MAIRAL,
    kind="dictionary",
    title="Dictionary learning",
    tasks=("unsupervised",),
    params={
        "k": Param(100.0, at_least=1.0, at_most=1 << 13, about="the number of atoms",
                   untuned="more atoms fit better and cost more"),
        "penalty": Param(0.0, at_least=0.0, untuned="a larger one makes codes with fewer atoms, and larger losses",
                         about="lambda, the weight of |code|_1; 0: 1.2 / sqrt(features), for rows of length about 1"),
        "batch": batch_param(64),
        "tolerance": Param(1e-4, at_least=0.0, below=1.0, untuned="smaller is more exact and slower",
                           about="a code is found once a sweep changes nothing by more than this share"),
        "sweeps": Param(1000.0, at_least=1.0, at_most=1e6, untuned="more is more exact and slower",
                        about="the most sweeps of coordinate descent for a code"),
    },
    options=ROW_OPTIONS,
    merge=Merge("none", "sums of codes belong to the atoms of one learner"),
)  # fmt: skip
class Dictionary(UnsupervisedLearner[Atoms]):
    """Dictionary learning: every row as a sum of few atoms, which follow the rows."""

    loss_measure = "half squared distances with a penalty"
    kind: ClassVar[str] = "dictionary"

    def __init__(self, k: float, penalty: float, batch: float, tolerance: float, sweeps: float, **options: Any) -> None:
        super().__init__(batch, **options)
        self.k, self.penalty, self.tolerance, self.sweeps = int(k), penalty, tolerance, int(sweeps)
        if k != self.k or sweeps != self.sweeps:
            raise BadValue("dictionary: k and sweeps must be whole numbers")
        self.first_batch = max(self.batch, self.k)  # the first atoms are rows

    @property
    def params(self) -> dict[str, Any]:
        return {"k": self.k, "penalty": self.penalty, "batch": self.batch, "tolerance": self.tolerance,
                "sweeps": self.sweeps}  # fmt: skip

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Atoms:
        return Atoms.start(self.k, features)

    def count_numbers(self, features: int) -> int:
        return 2 * self.k * features

    def learn_rows(self, state: Atoms, rows: MatrixRows) -> None:
        """Codes of the rows, their sums of products, and a step of all atoms."""
        state.steps += 1
        dense = rows.dense
        if (unused := state.unused()).any():
            key = np.array([self.row_config.seed, state.steps], np.uint64)
            state.fill(dense, np.random.Generator(np.random.Philox(key=key)), unused)
        codes = self.find_codes(state, dense @ state.atoms.T)
        state.add(codes, dense, self.decay(state.steps) ** (rows.rows / self.batch))
        state.step()

    def decay(self, step: int) -> float:
        """How much of the sums before a mini-batch is kept: mini-batches with old atoms count less."""
        if self.batch == 1:
            return 1.0
        size = self.batch
        theta = step * size if step < size else size * size + step - size
        return (theta + 1.0 - size) / (theta + 1.0)

    def find_codes(self, state: Atoms, products: Floats) -> Floats:
        numbers = np.array([self.find_penalty(state), self.tolerance, self.sweeps])
        return solve_lasso(state.products().gram, products, numbers, self.row_config.native)

    def find_penalty(self, state: Atoms) -> float:
        return self.penalty or 1.2 / float(np.sqrt(max(state.features, 1)))

    def score_rows(self, state: Atoms, rows: MatrixRows) -> Scored:
        """Codes, and 1/2 |x - sum_j a_j d_j|^2 + penalty |a|_1."""
        dense = rows.dense
        codes = self.find_codes(state, row_products(dense, state.products().columns))
        rest = dense - row_products(codes, state.atoms)
        penalties = self.find_penalty(state) * row_dots(codes, np.sign(codes))
        return Scored(codes, 0.5 * (row_dots(rest, rest) + rows.beyond) + penalties)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def components(self) -> Floats:
        """The atoms, one in each row, of length at most 1."""
        return self.latest.atoms.copy()

    def sparse_codes(self, X: RowsLike, atoms: int) -> Floats:
        """Codes of at most so many atoms, of shape (rows, k): their sum is the nearest to the row (least squares).

        Atoms are chosen by orthogonal matching pursuit. Unlike those of `transform`, the weights have no penalty.
        """
        most = check_integer("atoms", atoms, 1)
        with self._lock, memory_in_words("dictionary"):
            state, (block, _) = self.latest, self.encoder.encode(X, learn=False)
            rows = take_rows(block, 0, block.rows, self.features).cut(state.features).dense
            return find_sparse_codes(rows, state.atoms, most)

    def inverse_transform(self, codes: Any) -> Floats:
        """The rows that have these codes: the sums of atoms with these weights."""
        wanted = f"codes are a matrix of {self.k} columns, as transform gives them"
        given = read_matrix(codes, wanted, LARGEST)
        if given.shape[1] != self.k:
            raise BadValue(f"{wanted}, not {shown(codes)}")
        return row_products(given, self.latest.atoms)

    def describe_results(self) -> list[str]:
        """The atoms that are used most, with their largest entries."""
        if not self.rounds:
            return []
        state = self.latest
        sizes = np.sqrt(np.diag(state.among_codes))
        order = np.argsort(-sizes, kind="stable")
        return describe_components("use", sizes[order], state.atoms[order], self.feature_names)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Atoms) -> tuple[Header, Arrays]:
        arrays: Arrays = {"atoms": state.atoms, "among_codes": state.among_codes, "with_rows": state.with_rows}
        return {"steps": state.steps}, arrays

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Atoms:
        atoms, among, rows = (read_array(arrays, name, 2) for name in ("atoms", "among_codes", "with_rows"))
        if atoms.shape != (self.k, features) or rows.shape != atoms.shape or among.shape != (self.k, self.k):
            raise corrupt("its atoms and sums do not fit together")
        if (row_dots(atoms, atoms) > 1.0 + ROUNDING).any() or (np.diag(among) < 0.0).any():
            raise corrupt("an atom is longer than 1, or the sum of squares of its codes is negative")
        return Atoms(atoms, among, rows, read_count(header, "steps"))
