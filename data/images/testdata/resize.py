"""Writes resize.txt: what Pillow 12.0 makes of pictures whose pixels follow from their place.

    python3 resize.py > resize.txt

A line is: height width channels, new height, new width, filter, then the pixels in hexadecimal.
"""
import numpy as np
from PIL import Image

FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
SIZES = [(7, 5, 3, 3), (7, 5, 14, 11), (7, 5, 7, 2), (7, 5, 2, 5), (7, 5, 7, 5), (1, 1, 3, 2), (1, 9, 1, 2), (9, 1, 4, 1),
         (16, 23, 1, 1), (16, 23, 5, 40), (2, 2, 9, 9), (33, 31, 4, 3)]

for height, width, high, wide in SIZES:
    for channels in (1, 3):
        i = np.arange(height * width * channels, dtype=np.uint64)
        pixels = ((i * i * 7919 + i * 104729 + 12345) % 65521 >> 3 & 255).astype(np.uint8)
        pixels = pixels.reshape(height, width, channels)
        picture = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
        for name, f in FILTERS.items():
            print(height, width, channels, high, wide, name, picture.resize((wide, high), f).tobytes().hex())
