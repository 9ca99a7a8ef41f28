"""The program of examples/serve in PyTorch: answers over HTTP with the net that digits.py saved."""

import argparse
import collections
import concurrent.futures
import http.server
import json
import math
import queue
import signal
import sys
import threading
import time

import torch

import digits

MOST = 16 << 10  # bytes of a request
PATIENCE = 5  # seconds that a request waits
PIXELS = 8 * 8


class Full(Exception):
    pass


class Predictor:
    """Computes requests that wait together as one batch, in a thread of its own."""

    def __init__(self, net, batch, delay, waiting):
        self.net, self.batch, self.delay = net, batch, delay
        self.queue = queue.Queue(waiting)
        self.requests = self.batches = self.rejected = 0
        self.latencies = collections.deque(maxlen=4096)
        self.failed = threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def predict(self, image):
        answer, start = concurrent.futures.Future(), time.monotonic()
        try:
            self.queue.put_nowait((image, answer))
        except queue.Full:
            self.rejected += 1
            raise Full from None
        try:
            return answer.result(PATIENCE)
        except concurrent.futures.TimeoutError:
            answer.cancel()
            raise
        finally:
            self.requests += 1
            self.latencies.append(time.monotonic() - start)

    def work(self):
        while (first := self.queue.get()) is not None:
            requests, end = [first], time.monotonic() + self.delay
            while len(requests) < self.batch:
                try:
                    request = self.queue.get(timeout=max(0, end - time.monotonic()))
                except queue.Empty:
                    break
                if request is None:
                    self.queue.put(None)
                    break
                requests.append(request)
            requests = [r for r in requests if r[1].set_running_or_notify_cancel()]
            if requests:
                self.compute(requests)

    def compute(self, requests):
        try:
            images = torch.tensor([image for image, _ in requests]).reshape(-1, 8, 8)
            with torch.no_grad():
                probabilities = self.net(digits.pixels(images)).softmax(1).tolist()
            self.batches += 1
            for (_, answer), row in zip(requests, probabilities):
                answer.set_result(row)
        except RuntimeError as e:
            for _, answer in requests:
                answer.set_exception(e)
            self.failed.set()

    def metrics(self):
        seen = sorted(self.latencies) or [math.nan]
        lines = [f"predict_requests_total {self.requests}", f"predict_batches_total {self.batches}"]
        lines.append(f"predict_rejected_total {self.rejected}")
        lines.append(f"predict_queue {self.queue.qsize()}")
        for q in (0.5, 0.9, 0.99):
            value = seen[int(q * (len(seen) - 1))]
            lines.append(f'predict_latency_seconds{{quantile="{q}"}} {value}')
        return "\n".join(lines) + "\n"

    def close(self):
        self.queue.put(None)
        self.thread.join()


def parse(body):
    """Returns the pixels of a request."""
    try:
        sent = json.loads(body)
    except ValueError as e:
        raise ValueError(f'the request is not {{"pixels": [64 numbers]}} in JSON: {e}') from e
    if not isinstance(sent, dict) or set(sent) != {"pixels"}:
        raise ValueError("the request is an object with the field pixels")
    image = sent["pixels"]
    if not isinstance(image, list) or len(image) != PIXELS:
        raise ValueError(f"a picture has {PIXELS} pixels")
    for i, v in enumerate(image):
        if type(v) not in (int, float) or not 0 <= v <= 16:
            raise ValueError(f"pixel {i} is not a number from 0 to 16")
    return [float(v) for v in image]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10

    def reply(self, status, value, content="application/json", **headers):
        body = value if isinstance(value, str) else json.dumps(value)
        self.send_response(status)
        self.send_header("Content-Type", content)
        self.send_header("Content-Length", str(len(body.encode())))
        for name, header in headers.items():
            self.send_header(name.replace("_", "-"), header)
        self.end_headers()
        self.wfile.write(body.encode())

    def refuse(self, status, why, **headers):
        self.close_connection = True
        self.reply(status, {"error": why}, Connection="close", **headers)

    def do_GET(self):
        if self.path == "/metrics":
            self.reply(200, self.server.predictor.metrics(), "text/plain; version=0.0.4")
        elif self.path == "/predict":
            self.refuse(405, "send a picture with POST, not " + self.command, Allow="POST")
        else:
            self.refuse(404, "there is nothing here: POST pictures to /predict")

    do_PUT = do_DELETE = do_GET

    def do_POST(self):
        if self.path != "/predict":
            self.refuse(404, "there is nothing here: POST pictures to /predict")
            return
        length = int(self.headers.get("Content-Length", 0))
        if length > MOST:
            self.refuse(413, f"the request is larger than {MOST} bytes")
            return
        try:
            body = self.rfile.read(length)
        except TimeoutError:
            self.refuse(408, "the request came too slowly")
            return
        if len(body) < length:
            self.refuse(400, "the request ends too soon")
            return
        try:
            image = parse(body)
        except ValueError as e:
            self.refuse(400, str(e))
            return
        try:
            probabilities = self.server.predictor.predict(image)
        except Full:
            self.refuse(503, "too many requests wait: try again in a second", Retry_After="1")
        except concurrent.futures.TimeoutError:
            self.refuse(504, f"there was no answer in {PATIENCE} seconds")
        except RuntimeError:
            self.refuse(500, "the device failed")
        else:
            digit = probabilities.index(max(probabilities))
            self.reply(200, {"digit": digit, "probabilities": probabilities})

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="digits.pt", help="the weights that digits.py saved")
    parser.add_argument("--addr", default="localhost:8080", help="address to listen on")
    parser.add_argument("--batch", type=int, default=32, help="most requests computed together")
    parser.add_argument("--wait", type=float, default=0.002, help="seconds to wait for others")
    parser.add_argument("--queue", type=int, default=256, help="requests that wait")
    args = parser.parse_args()
    if not 1 <= min(args.batch, args.queue) <= max(args.batch, args.queue) <= 1 << 14 or args.wait < 0:
        parser.error("batch and queue are 1 to 16384, and wait is no less than 0")
    net = digits.make_net()
    try:
        net.load_state_dict(torch.load(args.model))
    except (OSError, RuntimeError) as e:
        sys.exit(f"serve: {e}")
    net.eval()
    host, _, port = args.addr.rpartition(":")
    server = http.server.ThreadingHTTPServer((host, int(port)), Handler)
    server.daemon_threads = False  # server_close waits for those that answer
    server.predictor = Predictor(net, args.batch, args.wait, args.queue)
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: server.predictor.failed.set())
    threading.Thread(target=server.serve_forever).start()
    print(f"listening on http://{args.addr}", file=sys.stderr)
    server.predictor.failed.wait()
    server.shutdown()
    server.server_close()
    server.predictor.close()


if __name__ == "__main__":
    main()
