"""KuaiRec in both forms, on small made files."""

from pathlib import Path

import numpy as np
import pytest
from source_files import rows, write

from unskew.data.sources import get_source, status_of
from unskew.data.sources.kuairec import read_popularity
from unskew.errors import DataError, UnskewWarning

KUAIREC_HEADER = "user_id,video_id,play_duration,video_duration,time,date,timestamp,watch_ratio\n"


def test_kuairec_takes_the_watch_ratio(tmp_path):
    first = "14,148,4381,6067,2020-07-05 05:27:48.378,20200705,1593898068.378,0.722\n"
    write(tmp_path, "small_matrix.csv", KUAIREC_HEADER + first)
    log = get_source("kuairec").read(tmp_path)
    assert rows(log) == [(14, 148)]
    assert log.values.tolist() == [0.722]
    assert log.times.tolist() == [1593898068.378]


def test_kuairec_leaves_times_out_when_some_are_missing(tmp_path):
    text = "14,148,4381,6067,2020-07-05 05:27:48.378,20200705,1593898068.378,0.722\n14,183,10,20,,,,0.5\n"
    write(tmp_path, "small_matrix.csv", KUAIREC_HEADER + text)
    log = get_source("kuairec").read(tmp_path)
    assert log.values.tolist() == [0.722, 0.5]
    assert log.times is None


def kuairec_truth(folder: Path, positives: str) -> None:
    write(folder, "small_matrix_users.txt", "14\n19\n")
    write(folder, "small_matrix_items.txt", "103\n109\n120\n")
    write(folder, "truth_positives.csv.gz", "user_id,video_id\n" + positives)


def test_kuairec_truth_labels_every_pair_of_the_grid(tmp_path):
    kuairec_truth(tmp_path, "14,109\n19,103\n")
    log = get_source("kuairec-truth").read(tmp_path)
    assert rows(log) == [(14, 103), (14, 109), (14, 120), (19, 103), (19, 109), (19, 120)]
    assert log.values.tolist() == [0, 1, 0, 1, 0, 0]
    assert log.user_vocabulary.declared
    assert log.item_vocabulary.declared


@pytest.mark.parametrize("row, problem", [("15,109", "user_id 15, first"), ("14,110", "video_id 110, first")])
@pytest.mark.parametrize("name", ["kuairec", "kuairec-truth"])
def test_kuairec_lists_whose_grid_lacks_cells_are_refused(tmp_path, name, row, problem):
    kuairec_truth(tmp_path, f"14,109\n{row}\n")
    with pytest.raises(DataError, match=f"the grid is not complete: it lacks the cells of {problem} in line 3"):
        get_source(name).read(tmp_path)


def test_kuairec_takes_labels_where_there_are_no_watch_ratios(tmp_path):
    kuairec_truth(tmp_path, "14,109\n19,103\n")
    labels, truth = (get_source(name).read(tmp_path) for name in ("kuairec", "kuairec-truth"))
    assert rows(labels) == rows(truth)
    assert labels.values.tolist() == truth.values.tolist()
    assert status_of(get_source("kuairec"), tmp_path).presence == "present"


def put_small_matrix(folder: Path, without: set[tuple[int, int]]) -> None:
    """Ten people and twenty videos; person 3 watched video 7 more than twice, and all others exactly twice."""
    lines = [
        f"{user},{video},1,2,x,x,1.5,{2.5 if (user, video) == (3, 7) else 2.0}\n"
        for user in range(10)
        for video in range(20)
        if (user, video) not in without
    ]
    write(folder, "small_matrix.csv", KUAIREC_HEADER + "".join(lines))


def test_kuairec_truth_is_made_from_watch_ratios(tmp_path):
    put_small_matrix(tmp_path, {(4, 4), (5, 4)})
    with pytest.warns(UnskewWarning, match=r"1\.0% of 10 x 20 cells .* users 4 \(1 cells\).* count as negative"):
        log = get_source("kuairec-truth").read(tmp_path)
    assert len(log) == 200
    assert [rows(log)[place] for place in np.flatnonzero(log.values)] == [(3, 7)]


def test_a_small_matrix_that_lacks_cells_says_which(tmp_path):
    put_small_matrix(tmp_path, {(4, 4), (5, 4), (5, 6)})
    expected = r"not complete: 1\.5% of 10 x 20 cells are missing, of users 5 \(2 cells\), 4 \(1 cells\); items 4 \(2"
    with pytest.raises(DataError, match=expected):
        get_source("kuairec-truth").read(tmp_path)


@pytest.mark.parametrize("name", ["kuairec", "kuairec-truth"])
def test_a_kuairec_folder_of_another_form_says_what_was_expected(tmp_path, name):
    write(tmp_path, "random.txt", "1,2,0.5\n")
    expected = (
        "no file 'small_matrix.csv' with watch ratios, nor truth_positives.csv, .*has random.txt, which is another"
    )
    with pytest.raises(DataError, match=expected):
        get_source(name).read(tmp_path)


def test_the_popularity_of_videos_is_that_of_the_log(tmp_path):
    kuairec_truth(tmp_path, "14,109\n")
    videos = get_source("kuairec").read(tmp_path).item_vocabulary
    assert read_popularity(tmp_path, videos) is None
    write(tmp_path, "biased_log_positives.csv", "user_id,video_id,count\n1,120,2\n2,120,1\n2,999,7\n3,103,1\n")
    assert read_popularity(tmp_path, videos).tolist() == [1, 0, 3]
