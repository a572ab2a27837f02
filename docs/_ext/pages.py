"""Sphinx extension: plain shell cells, citations in docstrings, the demo's page, examples that run, sources."""

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

SHELL = "%%bash -e\n"
_KEY = re.compile(r"(?<![\w`])\[([a-z]+\d{4})\](?!_)")


class ShellCells(SphinxTransform):
    """Show a shell cell as the commands it runs, without the line that makes it one."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        for block in self.document.findall(nodes.literal_block):
            if block.astext().startswith(SHELL):
                text = block.astext().removeprefix(SHELL)
                block.replace_self(nodes.literal_block(text, text, language="bash"))


def cite_keys(*event: Any) -> None:
    """Turn ``[yang2018]`` of a docstring into a citation."""
    lines = event[-1]
    lines[:] = [_KEY.sub(r":cite:p:`\1`", line) for line in lines]


def every_page(*event: Any) -> list[str]:
    """Read all pages again: what they run may have changed although they have not."""
    return sorted(event[1].found_docs)


def run_contributing(app: Sphinx) -> None:
    """Run the code of CONTRIBUTING.md, which a page includes and GitHub shows unchanged."""
    from blocks import run_blocks

    run_blocks(Path(app.confdir).parent / "CONTRIBUTING.md")


def write_demo(app: Sphinx, exception: Exception | None) -> None:
    """Put the page of ``unskew demo`` next to the documentation, for the page that explains it."""
    if exception is None and app.builder.format == "html":
        from unskew.studies import run_demo

        (Path(app.outdir) / "demo-report.html").write_text(run_demo().to_html(), encoding="utf-8")


def copy_sources(app: Sphinx, exception: Exception | None) -> None:
    """Put the Markdown of each page next to its HTML, for the links of ``llms.txt``."""
    if exception is None and app.builder.format == "html":
        for name in app.env.found_docs:
            source = Path(app.env.doc2path(name))
            shutil.copyfile(source, Path(app.outdir) / source.relative_to(app.srcdir))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(ShellCells)
    app.connect("autodoc-process-docstring", cite_keys, priority=400)
    app.connect("env-get-outdated", every_page)
    app.connect("builder-inited", run_contributing)
    app.connect("build-finished", write_demo)
    app.connect("build-finished", copy_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
