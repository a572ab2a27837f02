"""The frame of a study: tables with their sizes, trials, statistics, cells next to printed numbers, claims, figures."""
