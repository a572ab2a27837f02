"""Other people's models, frames and trackers, recognised by their methods and never imported at the top."""

from unskew.integrations.tracker_names import TrackedMetric, from_tracker_name, tracker_name

__all__ = ["TrackedMetric", "from_tracker_name", "tracker_name"]
