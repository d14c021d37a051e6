"""Memory of the caller's for batches: page-locked, say, for a GPU to read.

The library asks for a block before it requests the bytes that go there, uses
blocks again, and gives each back once. It asks in threads of its own.
"""

from contextlib import suppress
import ctypes
import weakref

from . import errors


def check_allocator(allocator):
    if allocator is not None and not callable(allocator):
        raise TypeError("allocator: a function of a number of bytes, not "
                        f"{allocator!r}")


def _as_view(memory):
    """A torch tensor has no buffer of its own, but shares that of an array."""
    if hasattr(memory, "numpy"):
        memory = memory.numpy()
    try:
        view = memoryview(memory).cast("B")
    except (TypeError, BufferError) as error:
        raise errors.Invalid(
            f"the allocator returned {type(memory).__name__}, which is no "
            f"contiguous buffer: {error}") from error
    if view.readonly:
        raise errors.Invalid("the allocator returned memory that is read-only")
    return view


class Lender:
    """What the owner's allocator gave, by address, for as long as the library
    has it.

    The library holds the lender where Python's collector cannot look, so the
    lender does not hold the owner: an allocator is often a method of what holds
    the consumer.
    """

    def __init__(self, owner):
        self._owner = weakref.ref(owner)
        self._lent = {}
        self._failure = None

    def _ask(self, size, alignment):
        owner = self._owner()
        if owner is None:
            raise errors.Cancelled("nobody waits for the batch any more")
        view = _as_view(owner.allocator(size + alignment))
        if len(view) < size + alignment:
            raise errors.Invalid(f"the allocator returned {len(view)} bytes "
                                 f"and not {size + alignment}")
        # This also keeps the view, and so the memory.
        begin = ctypes.c_char.from_buffer(view)
        address = -(-ctypes.addressof(begin) // alignment) * alignment
        if self._lent.setdefault(address, begin) is not begin:
            raise errors.Invalid("the allocator returned memory that it had "
                                 "given before, and that is still in use")
        return address

    def lend(self, size, alignment):
        """The address of a block; 0 if there is none."""
        try:
            return self._ask(size, alignment)
        except BaseException as error:  # told by whoever waits for the batch
            self._failure = error
            return 0

    def take_back(self, address):
        """The block is of no more use to the library."""
        del self._lent[address]

    def tell(self):
        """Raises what made the last lend() fail, if anything did."""
        failure, self._failure = self._failure, None
        if isinstance(failure, errors.Invalid):
            raise failure
        if failure is not None:
            raise MemoryError(f"the allocator failed: {failure!r}") from failure


def close_at_exit(reader):
    """Ends its threads while they can still call Python."""
    weakref.finalize(reader, _close, reader._parts)


def _close(parts):
    for part in parts:
        # If its allocator let it go, it is closed in another thread instead.
        with suppress(errors.Invalid):
            part.close()
