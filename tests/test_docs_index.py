"""The ways into the documentation are complete: table of contents, questions, gallery, llms.txt, other libraries."""

import re
from pathlib import Path

import pytest

from test_docs import DOCS, PAGES, PROSE, ROOT, blocks, load, name_of, read

llms = load(DOCS / "llms.py")
GALLERY = sorted(page for page in (DOCS / "gallery").glob("*.md") if page.name != "index.md")
LIBRARY = re.compile(r"([A-Z]?[\w-]+(?: [A-Z]\w+)*) (\d+(?:\.\d+)+)(?=[ ,]| \|)")


def without_code(page: Path) -> str:
    return re.sub(r"^(`{3,}).*?^\1[ ]*$", "", read(page), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What a link can name: the targets of the page, and its headings in the spelling of MyST."""
    text = without_code(page)
    headings = re.findall(r"^#{1,3} (.*)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_links_to_sections_lead_to_headings(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", without_code(page))
    lost = [
        f"{target}#{anchor}"
        for target, anchor in re.findall(r"\]\(([^)\s#]*)#([^)\s]+)\)", text)
        if not target.startswith("https://") and anchor not in anchors(page.parent / target if target else page)
    ]
    assert lost == []


def test_every_page_is_in_the_table_of_contents_once() -> None:
    listed = [page for pages in llms.sections().values() for page in pages]
    assert len(set(listed)) == len(listed)
    assert {DOCS / page for page in listed} == set(PAGES) - {DOCS / "index.md"}


def test_the_table_of_contents_is_in_the_order_of_use() -> None:
    captions = ["First steps", "Data", "Evaluate", "Read the answer", "Decide", "Scale", "Simulation", "Papers"]
    assert list(llms.sections()) == [*captions, "Reference", "Project"]
    assert llms.sections()["First steps"][:2] == ["questions.md", "start.md"]


def test_every_question_has_a_link_and_questions_come_first() -> None:
    questions = re.split(r"^- ", read(DOCS / "questions.md"), flags=re.MULTILINE)[1:]
    assert len(questions) >= 30
    assert [question for question in questions if "](" not in question] == []
    for page in (DOCS / "index.md", ROOT / "README.md"):
        links = re.findall(r"\]\((\S+\.md)\)", read(page).split("</details>")[-1])
        assert next(link for link in links if "guide/" not in link).endswith("questions.md")


def test_llms_txt_has_every_page_with_its_title() -> None:
    text = read(llms.FILE)
    assert text == llms.text(known=text), "run python docs/llms.py"
    lines = re.findall(r"^- \[.+\]\((.+)\): (.+)$", text, re.MULTILINE)
    assert len({description for _, description in lines}) == len(lines) == len(PAGES) - 1
    assert all(len(description) <= 130 and description.endswith(".") for _, description in lines)
    assert text.startswith("# unskew\n\n> ")
    assert 'html_extra_path = ["llms.txt"]' in read(DOCS / "conf.py")


def test_llms_txt_keeps_descriptions_and_begins_new_ones(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Home\n\n```{toctree}\n:caption: Use\n\none\nbook/all\n```\n")
    (tmp_path / "one.md").write_text("# One\n\n```{code-cell}\nskip\n```\n\nA *first*\nsentence. A second one.\n")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "all.md").write_text("# Book\n\nThe [book](x.md).\n\n```{toctree}\n\nleaf\n```\n")
    (tmp_path / "book" / "leaf.md").write_text("# Leaf\n\nOld.\n")
    text = llms.text(tmp_path, known="- [Other title](book/leaf.md): Kept.\n- [Gone](gone.md): Dropped.\n")
    assert text.split("## Use\n\n")[1].splitlines() == [
        "- [One](one.md): A first sentence.",
        "- [Book](book/all.md): The book.",
        "- [Leaf](book/leaf.md): Kept.",
    ]
    (tmp_path / "one.md").write_text("no heading\n")
    with pytest.raises(ValueError, match=r"one\.md has no title"):
        llms.text(tmp_path)


def test_the_gallery_lists_its_pages_and_each_ends_with_the_truth() -> None:
    index = read(DOCS / "gallery" / "index.md")
    assert len(GALLERY) >= 5
    for page in GALLERY:
        assert f"[{llms.title(page)}]({page.name})" in index
        cells = [body for info, body in blocks.fenced(read(page)) if info.startswith("{code-cell}")]
        assert "**The situation.**" in read(page)
        assert any(heading in read(page) for heading in ("## What was true", "## How often is the gate wrong?"))
        assert any("remove-cell" in body and "assert" in body for body in cells), f"{page.name} checks no claim"
        assert any("alt.Chart" in body or ".charts[" in body for body in cells), f"{page.name} has no chart"
        assert "import altair" not in read(page) or 'alt.renderers.enable("svg")' in read(page)  # no scripts


def test_the_readme_and_the_page_on_other_libraries_name_the_same_versions_and_day() -> None:
    readme, page = read(ROOT / "README.md"), read(DOCS / "other-libraries.md")
    table = readme.split("<summary>Compared with other libraries")[1].split("</details>")[0]
    rows, listed_rows = (
        [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")] for text in (table, page)
    )
    named, listed = ({pair for row in lines for pair in LIBRARY.findall(row)} for lines in (rows, listed_rows))
    assert len(rows) <= 9  # with the heading
    assert len(named) >= 8
    assert named <= listed
    days = [re.findall(r"\d{4}-\d\d-\d\d", text) for text in (table, page)]
    assert days[0] == days[1] != []
