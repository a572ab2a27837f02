"""Interactions, splits and the readers of public data sets."""

from unskew.data.candidates import Candidates
from unskew.data.columns import Columns, TableFile
from unskew.data.densify import Densified, Size, densify
from unskew.data.exposed import Population, exposed_from_frame, exposed_split, find_population, read_exposed
from unskew.data.formats.file_format import FileFormat
from unskew.data.formats.trec import write_qrels
from unskew.data.frames import eager
from unskew.data.interactions import Interactions
from unskew.data.item_list import read_catalogue, with_items
from unskew.data.partitions import PartitionedSplit, Parts, open_parts, open_split, write_parts
from unskew.data.split import Split
from unskew.data.splitters import (
    count_train_only,
    split_fractions,
    split_leave_one_out,
    split_per_user,
    split_temporal,
    test_propensity,
)
from unskew.data.vocabulary import Vocabulary

__all__ = [
    "Candidates",
    "Columns",
    "Densified",
    "FileFormat",
    "Interactions",
    "PartitionedSplit",
    "Parts",
    "Population",
    "Size",
    "Split",
    "TableFile",
    "Vocabulary",
    "count_train_only",
    "densify",
    "eager",
    "exposed_from_frame",
    "exposed_split",
    "find_population",
    "open_parts",
    "open_split",
    "read_catalogue",
    "read_exposed",
    "split_fractions",
    "split_leave_one_out",
    "split_per_user",
    "split_temporal",
    "test_propensity",
    "with_items",
    "write_parts",
    "write_qrels",
]
