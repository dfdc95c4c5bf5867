"""NumPy arrays as Arrow columns, with a null for what is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import numpy.typing as npt


def nullable(
    values: npt.NDArray[Any], known: npt.NDArray[np.bool_] | None, kind: pa.DataType
) -> pa.Array:
    """Give values as an Arrow array without copying them where their type fits.

    Parameters
    ----------
    values : ndarray, shape (rows,)
        Numbers.
    known : ndarray of bool, shape (rows,), optional
        Which of them mean something; the others become nulls. None if all do.
    kind : pyarrow.DataType
        A type of fixed width.

    Returns
    -------
    pyarrow.Array
        Of that type.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> nullable(np.array([4, -1]), np.array([True, False]), pa.int32()).to_pylist()
    [4, None]
    """
    missing, bitmap = 0, None
    if known is not None:
        missing = len(values) - int(np.count_nonzero(known))
        bitmap = pa.py_buffer(np.packbits(known, bitorder="little")) if missing else None
    values = np.ascontiguousarray(values, kind.to_pandas_dtype())
    return pa.Array.from_buffers(kind, len(values), [bitmap, pa.py_buffer(values)], missing)


def fractions(values: npt.NDArray[np.float64]) -> pa.Array:
    """Give fractions as an Arrow array, with a null for each NaN.

    Examples
    --------
    >>> import numpy as np
    >>> fractions(np.array([0.5, np.nan])).to_pylist()
    [0.5, None]
    """
    return nullable(values, ~np.isnan(values), pa.float64())


def encoded(codes: npt.NDArray[Any], names: pa.Array) -> pa.Array:
    """Give texts by their numbers, as a dictionary.

    Parameters
    ----------
    codes : ndarray of integers, shape (rows,)
        Positions in `names`; negative where absent.
    names : pyarrow.Array of str
        The texts.

    Returns
    -------
    pyarrow.DictionaryArray
        With 32-bit indices.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> encoded(np.array([1, -1]), pa.array(["a", "b"])).to_pylist()
    ['b', None]
    """
    indices = nullable(codes, codes >= 0, pa.int32())
    return pa.DictionaryArray.from_arrays(indices, names)
