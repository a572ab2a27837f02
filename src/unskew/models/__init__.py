"""Built-in models: each learns from a training log and gives a scorer."""

from unskew.models.als import Als
from unskew.models.ease import Ease
from unskew.models.item_knn import ItemKnn
from unskew.models.model import Model
from unskew.models.popular import Popular
from unskew.models.random import Random
from unskew.models.svd import Svd

__all__ = ["Als", "Ease", "ItemKnn", "Model", "Popular", "Random", "Svd"]
