"""A context manager that keeps linear algebra to one thread, so that results are reproducible to the last bit."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread: the order of their sums, and so the last bit, depends on the number.

    Only libraries that are loaded can be limited, so scipy's own copy of BLAS is loaded first. Import others that bring
    one, such as scikit-learn, before entering.
    """
    import scipy.linalg
    import scipy.optimize
    import scipy.sparse.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield
