"""Other people's models, frames and trackers, recognised by their methods and never imported at the top."""
