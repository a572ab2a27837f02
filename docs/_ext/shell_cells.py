"""Shell cells that print all of their output and stop on errors; every kernel reads this file (PYTHONSTARTUP)."""

import subprocess

from IPython.core.getipython import get_ipython


def bash(line: str, cell: str) -> None:
    """Run the commands, with stderr in the same place as on a terminal."""
    done = subprocess.run(
        ["bash", *line.split()], input=cell, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    print(done.stdout, end="")
    done.check_returncode()


shell = get_ipython()
if shell is not None:
    shell.register_magic_function(bash, "cell", "bash")
del shell
