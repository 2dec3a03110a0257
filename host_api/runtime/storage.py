"""The memory that holds a tensor's bytes: of the host, or a buffer of a chip."""

import numpy as np

from tensim.runtime.queues import Uses


class HostStorage:
    """Bytes in host memory (uint8), None until a download has brought them; `keeper`: the array that they belong to."""

    device = None

    def __init__(self, data, what, keeper=None):
        self.data, self.what, self.keeper, self.uses = data, what, keeper, Uses()

    def memory(self):
        """(read, write) of the bytes."""

        def write(data):
            self.data = np.array(data, np.uint8)

        return lambda: self.data, write

    def free(self):
        """Nothing: the memory goes with the last command that uses it."""


class DeviceStorage:
    """A buffer of a chip."""

    def __init__(self, device, buffer, what):
        self.device, self.buffer, self.what, self.uses = device, buffer, what, Uses()

    def memory(self):
        """(read, write) of the bytes, which stay valid for commands issued before the memory was freed."""
        device, buffer = self.device, self.buffer
        return lambda: device.peek(buffer), lambda data: device.poke(buffer, data)

    def free(self):
        """Give the memory back."""
        self.device.free_buffer(self.buffer, self.uses)
        self.buffer = None


def buffers_of(storages):
    """Ids of the buffers of storages; host memory has none."""
    return tuple(storage.buffer.unique_id for storage in storages if isinstance(storage, DeviceStorage))
