"""Yang et al. 2018, Unbiased Offline Recommender Evaluation: clicks that follow popularity, and what they hide."""
