"""Other people's models, frames and trackers, recognised by their methods and never imported at the top."""

from unskew.integrations.identified import Identified, with_ids
from unskew.integrations.recognise import FAMILIES, is_dataset, read_model
from unskew.integrations.tracker_names import TrackedMetric, from_tracker_name, tracker_name

__all__ = [
    "FAMILIES",
    "Identified",
    "TrackedMetric",
    "from_tracker_name",
    "is_dataset",
    "read_model",
    "tracker_name",
    "with_ids",
]
