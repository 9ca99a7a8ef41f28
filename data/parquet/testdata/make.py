"""Writes the files of the tests, by pyarrow 26: python3 make.py"""
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

types = pa.table({
    "bool": pa.array([True, False, True, None, False]),
    "i8": pa.array([-128, 127, 0, 1, 2], pa.int8()),
    "i16": pa.array([-32768, 32767, 0, 1, 2], pa.int16()),
    "i32": pa.array([-2**31, 2**31 - 1, 0, 1, 2], pa.int32()),
    "i64": pa.array([-2**63, 2**63 - 1, 0, 1, 2], pa.int64()),
    "u8": pa.array([0, 255, 1, 2, 3], pa.uint8()),
    "u16": pa.array([0, 65535, 1, 2, 3], pa.uint16()),
    "u32": pa.array([0, 2**32 - 1, 1, 2, 3], pa.uint32()),
    "u64": pa.array([0, 2**64 - 1, 1, 2, 3], pa.uint64()),
    "f16": pa.array([np.float16(v) for v in (0.5, -2, 65504, 0, 1)], pa.float16()),
    "f32": pa.array([0.1, -2, 3e38, None, 1], pa.float32()),
    "f64": pa.array([0.1, float("nan"), 1e308, None, float("inf")], pa.float64()),
    "text": pa.array(["b", "a", None, "b", "ä"]),
    "date": pa.array([date(1970, 1, 2), date(1969, 12, 31), date(2000, 1, 1), None, date(1970, 1, 1)]),
    "time": pa.array([datetime(1970, 1, 1, 0, 0, 1), datetime(2000, 1, 1), None, None, datetime(1970, 1, 1)], pa.timestamp("us")),
    "small": pa.array([Decimal("1.25"), Decimal("-0.01"), Decimal("0"), None, Decimal("9999999.99")], pa.decimal128(9, 2)),
    "large": pa.array([Decimal("1.250"), Decimal("-0.001"), Decimal("0"), None, Decimal("1234567890123456789.125")], pa.decimal128(25, 3)),
    "group": pa.array([{"a": 1, "b": "x"}, {"a": 2, "b": None}, None, {"a": 4, "b": "y"}, {"a": 5, "b": "z"}]),
    "list": pa.array([[1, 2], [], None, [3], [4]]),
    "nothing": pa.nulls(5),
})
pq.write_table(types, "types.parquet", row_group_size=2)

numbers = pa.table({"n": pa.array(range(600), pa.int32()), "kind": pa.array(["red" if n % 7 else "blue" for n in range(600)])})
for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4"):
    for version in ("1.0", "2.0"):
        pq.write_table(numbers, f"{codec}-v{version[0]}.parquet", compression=codec, data_page_version=version, row_group_size=200,
                       data_page_size=256, use_dictionary=version == "1.0")
pq.write_table(numbers.slice(0, 9), "delta.parquet", use_dictionary=False,
               column_encoding={"n": "DELTA_BINARY_PACKED", "kind": "DELTA_BYTE_ARRAY"})
pq.write_table(types.select(["time"]), "int96.parquet", use_deprecated_int96_timestamps=True)
pq.write_table(numbers.slice(0, 0), "empty.parquet")
