"""Nearest neighbours of items by shrunk cosine similarity."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import dot, offsets_of
from unskew.data import Interactions
from unskew.models.model import Model, Observed, Progress, check_number, check_whole
from unskew.ranking.scorers import ItemItemScorer

BLOCK = 1024  # items between two reports of progress


@dataclass(frozen=True)
class ItemKnn(Model, word="item-knn"):
    r"""Item-based nearest neighbours: an item scores by its most similar items in the user's history.

    .. math::

       w_{ji} = \frac{n_{ij}}{\sqrt{n_i n_j} + h}, \qquad s_{ui} = \sum_{j \in X_u \cap N_k(i)} w_{ji}

    where n_ij users had both items and N_k(i) are the k items most similar to i, without i. Of equally similar items
    the first in the catalogue are used. Cosine as in Sarwar et al. (2001), the sum as in Deshpande and Karypis (2004),
    section 4.

    Parameters
    ----------
    neighbours : int
        k above.
    shrinkage : float
        h above: reduces similarities that are based on few users; 0 is the plain cosine.
    """

    neighbours: int = 100
    shrinkage: float = 10

    def __post_init__(self) -> None:
        check_whole(self, "neighbours")
        check_number(self, "shrinkage", zero=True)

    def effort(self, train: Interactions) -> float:
        """The pairs of items of each user."""
        return 1e-9 * dot(train.user_counts, train.user_counts)

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> ItemItemScorer:
        """Find the neighbours item by item, so that memory is needed for the neighbours only."""
        observed = Observed.of(train)
        from unskew.models.closed_kernel import nearest_items

        by_user = observed.matrix
        by_item = by_user.tocsc()
        n = by_item.shape[1]
        roots = np.sqrt(observed.item_counts)
        kept = min(self.neighbours, n)
        lengths = np.zeros(n, dtype=np.int64)
        rows, weights = [], []
        for start in range(0, n, BLOCK):
            stop = min(start + BLOCK, n)
            near = np.zeros((stop - start, kept), dtype=np.int32)
            similarity = np.zeros((stop - start, kept), dtype=np.float32)
            nearest_items(
                start,
                (by_item.indptr, by_item.indices),
                (by_user.indptr, by_user.indices),
                roots,
                float(self.shrinkage),
                near,
                similarity,
                lengths[start:stop],
            )
            filled = np.arange(kept) < lengths[start:stop, None]
            rows.append(near[filled])
            weights.append(similarity[filled])
            progress(stop, n)
        from scipy import sparse

        columns = offsets_of(lengths)
        matrix = sparse.csc_array((np.concatenate(weights), np.concatenate(rows), columns), shape=(n, n))
        return ItemItemScorer(
            by_user, matrix.tocsr(), user_ids=observed.user_ids, item_ids=observed.item_ids, name=str(self)
        )
