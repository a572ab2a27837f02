"""How the documentation is built: ``make docs``.

Every ``code-cell`` of every page is run by the build, shell commands too (cells that begin with ``%%bash -e``), each
page in its own empty folder. A cell that fails stops the build, because warnings are errors. ``tests/test_docs.py``
refuses pages with code that is not run.
"""

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE)]

# what the cells' own processes need: the unskew command, docs/example.py, and tables of one width
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
os.environ["COLUMNS"] = "110"
os.environ["NO_COLOR"] = "1"
os.environ["BASH_ENV"] = str(HERE / "_ext" / "plain.sh")
os.environ["PYTHONSTARTUP"] = str(HERE / "_ext" / "shell_cells.py")

project = "unskew"
author = copyright = "The unskew developers"  # noqa: A001
version = release = version_of("unskew")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
    "mathml",
    "pages",
]
exclude_patterns = ["_build", "jupyter_execute"]
templates_path: list[str] = []
default_role = "literal"  # `name` in docstrings

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
myst_update_mathjax = False
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_render_markdown_format = "myst"

autodoc_typehints = "none"  # parameters are described in words, and signatures stay readable
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"

html_theme = "furo"
html_title = f"unskew {release}"
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]  # made by docs/llms.py; the pages it links are next to it (_ext/pages.py)
html_css_files = ["unskew.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False

suppress_warnings = ["mystnb.unknown_mime_type"]  # charts are Vega-Lite for notebooks and HTML for pages
