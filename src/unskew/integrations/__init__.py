"""Other people's models, frames and trackers, recognised by their methods and never imported at the top."""

from unskew.integrations.identified import Identified, with_ids
from unskew.integrations.recognise import FAMILIES, is_dataset, read_model

__all__ = ["FAMILIES", "Identified", "is_dataset", "read_model", "with_ids"]
