"""Data sets of Parquet files that may be larger than memory; all rows of a user are in one part."""

from unskew.data.partitions.files import ROWS, count_rows, find_files, parts_for, read_batches, read_file, schema_of
from unskew.data.partitions.keys import mix, user_keys
from unskew.data.partitions.layout import LAYOUT, layout_of, part_name
from unskew.data.partitions.parts import PartitionedSplit, Parts, open_by_user, open_parts, open_split, prepare_work
from unskew.data.partitions.write import write_parts

__all__ = [
    "LAYOUT",
    "ROWS",
    "PartitionedSplit",
    "Parts",
    "count_rows",
    "find_files",
    "layout_of",
    "mix",
    "open_by_user",
    "open_parts",
    "open_split",
    "part_name",
    "parts_for",
    "prepare_work",
    "read_batches",
    "read_file",
    "schema_of",
    "user_keys",
    "write_parts",
]
