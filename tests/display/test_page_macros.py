"""Pages: macros, escaping, real minus signs."""

import pytest
from jinja2 import DictLoader, UndefinedError

from unskew.display import page
from unskew.display.page import Figure, render_page
from unskew.display.styles import Style


@pytest.fixture
def render(monkeypatch):
    """Fill a template that is given as text."""

    def filled(template: str, **context: object) -> str:
        monkeypatch.setattr("jinja2.PackageLoader", lambda package, *_: loaders[package])
        loaders = {"own": DictLoader({"t": template}), "unskew.display": shared}
        return render_page("t", "own", context)

    import jinja2

    shared = jinja2.PackageLoader("unskew.display")
    return filled


def test_numbers_have_a_real_minus(render):
    assert render("{{ x | number }} {{ none | number }} {{ interval(x, 1, '+.1f') }}", x=-0.5) == (
        "−0.5000 undefined −0.5 to +1.0"
    )
    assert render("{{ none | move }} {{ none | p }} {{ -0.25 | move }}") == "– – −0.2500"


def test_what_comes_from_data_is_escaped_and_printable(render):
    assert render("{{ name }}", name="<b>\x00") == "&lt;b&gt;\ufffd"


def test_what_is_missing_is_an_error(render):
    with pytest.raises(UndefinedError):
        render("{{ nothing }}")


def test_figures_have_captions_and_notes(render):
    use = "{% from 'macros.html.j2' import figures, no_point %}{{ figures(items, ['b'], empty=no_point) }}"
    text = render(use, items=[Figure("<a>", "<svg/>", ("one", "two")), Figure("b", None, ("alone",))])
    assert "<h3>&lt;a&gt;</h3>" in text
    assert "<svg/>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>" in text
    assert 'b <span class="note">lower is better</span>' in text
    assert '<p class="note">There is no point to draw.</p>\n<p class="note">alone</p>' in text


def test_long_names_may_wrap(render):
    use = "{% from 'macros.html.j2' import named %}{{ named(name) }}"
    assert render(use, name="als") == '<span class="name">als</span>'
    assert render(use, name="x" * 29).startswith('<span class="name long">')


def test_a_page_has_its_parts(render):
    use = "{% extends 'page.html.j2' %}{% block title %}T{% endblock %}{% block main %}M\n{% endblock %}"
    text = render(use)
    assert "<title>T</title>" in text
    assert f"<main>\nM\n<footer>Made by unskew {page.__version__}.</footer>" in text


def test_columns_of_numbers_are_on_the_right(render):
    use = (
        "{% from 'macros.html.j2' import wide %}"
        "{% call wide('A <b>', ['a', 'b', 'c', 'd'], left=2, also=('d',)) %}<tbody></tbody>\n{% endcall %}"
    )
    text = render(use)
    assert 'aria-label="A &lt;b&gt;"' in text
    heads = '<th scope="col">a</th><th scope="col">b</th><th scope="col" class="n">c</th><th scope="col">d</th>'
    assert f"<thead><tr>{heads}</tr></thead>\n<tbody></tbody>\n</table>" in text


def test_a_group_spans_the_columns(render):
    use = "{% from 'macros.html.j2' import group %}{{ group(['a', 'b'], 'auc', 'snips') }}"
    assert '<th colspan="2" scope="colgroup"><div>auc<span class="word">snips</span></div></th>' in render(use)


@pytest.mark.parametrize(("mark", "drawn"), [("line", "<line"), ("point", "<path"), ("box", "<rect")])
def test_legends_draw_what_the_chart_has(render, mark, drawn):
    use = "{% from 'macros.html.j2' import keys %}{{ keys(styles, mark, 'lists of ') }}"
    text = render(use, styles=[Style("<als>", "var(--c1)")], mark=mark)
    assert drawn in text
    assert '<span class="name">lists of &lt;als&gt;</span>' in text
