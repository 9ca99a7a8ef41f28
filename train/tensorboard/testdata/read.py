"""Prints as JSON what TensorBoard's own reader finds in a folder of events."""
import json
import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.util import tensor_util

events = event_accumulator.EventAccumulator(sys.argv[1], size_guidance={k: 0 for k in event_accumulator.DEFAULT_SIZE_GUIDANCE})
events.Reload()
tags = events.Tags()
found = {"scalars": {}, "images": {}, "histograms": {}, "texts": {}, "graph": None}
for tag in tags["scalars"]:
    found["scalars"][tag] = [[e.step, repr(e.value)] for e in events.Scalars(tag)]
for tag in tags["images"]:
    found["images"][tag] = [[e.step, e.width, e.height, e.encoded_image_string.hex()] for e in events.Images(tag)]
for tag in tags["histograms"]:
    found["histograms"][tag] = [[e.step, v.min, v.max, v.num, v.sum, v.sum_squares, list(v.bucket_limit), list(v.bucket)]
                                for e in events.Histograms(tag) for v in [e.histogram_value]]
for tag in tags["tensors"]:
    plugin = events.SummaryMetadata(tag).plugin_data.plugin_name
    found["texts"][tag] = [[e.step, plugin, tensor_util.make_ndarray(e.tensor_proto)[0].decode()] for e in events.Tensors(tag)]
if tags["graph"]:
    found["graph"] = [[n.name, n.op, list(n.input), [[d.size for d in s.dim] for s in n.attr["_output_shapes"].list.shape]]
                      for n in events.Graph().node]
json.dump(found, sys.stdout)
