"""Two command queues, events and a trace, as a program of the vendor's library uses them."""

import numpy as np
import ttnn

REPLAYS = 5
values = (np.arange(64 * 64, dtype=np.float32) % 16).reshape(1, 1, 64, 64)
device = ttnn.open_device(device_id=0, num_command_queues=2, trace_region_size=1 << 20)


def on_host(content):
    return ttnn.Tensor(content.flatten().tolist(), list(content.shape), ttnn.bfloat16, ttnn.TILE_LAYOUT)


def read(tensor):
    return np.array(tensor.cpu().to_list()).reshape(values.shape)


x = on_host(values).to(device)
y = ttnn.add(x, x)  # its kernels are built before the capture
trace = ttnn.begin_trace_capture(device, cq_id=0)
y = ttnn.add(ttnn.add(x, x), x)
ttnn.end_trace_capture(device, trace, cq_id=0)

right = []
for replay in range(REPLAYS):
    ttnn.copy_host_to_device_tensor(on_host(values + replay), x, cq_id=1)
    written = ttnn.record_event(device, 1)
    ttnn.wait_for_event(0, written)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
    done = ttnn.record_event(device, 0)
    ttnn.wait_for_event(1, done)
    right.append(np.array_equal(read(y), 3 * (values + replay)))
print("replays", right)
ttnn.release_trace(device, trace)
ttnn.close_device(device)
