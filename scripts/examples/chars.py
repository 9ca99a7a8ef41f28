"""The program of examples/chars in PyTorch, to compare results, times and lines."""
import argparse
import hashlib
import json
import math
import os
import signal
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def read(path, window):
    """Returns the characters that a text has, and its numbers, of which the last tenth is for testing."""
    try:
        with open(path, encoding="utf-8", newline="") as f:
            text = f.read()
    except (OSError, UnicodeDecodeError) as e:
        sys.exit(f"chars: {path}: {e}")
    alphabet = sorted(set(text))
    at = {c: i for i, c in enumerate(alphabet)}
    numbers = torch.tensor([at[c] for c in text])
    train, test = numbers[:len(text) * 9 // 10], numbers[len(text) * 9 // 10:]
    if len(test) <= window:
        sys.exit(f"chars: {path} has {len(text)} characters: a tenth of them is to be more than the context of {window}")
    return alphabet, train, test, hashlib.sha256(text.encode()).hexdigest()


class Block(nn.TransformerEncoderLayer):
    def forward(self, x, past=None):
        """Returns the result for x [n, length, width], and keys and values up to x: past has those before x."""
        a = self.self_attn
        qkv = F.linear(self.norm1(x), a.in_proj_weight, a.in_proj_bias)
        q, k, v = qkv.unflatten(2, (3, a.num_heads, -1)).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + a.out_proj(y.transpose(1, 2).flatten(2))
        return x + self.linear2(F.gelu(self.linear1(self.norm2(x)))), (k, v)


class Model(nn.Module):
    def __init__(self, words, blocks, width, heads, window):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(window, width)
        self.blocks = nn.ModuleList(
            Block(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True) for _ in range(blocks))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, x, cache=None):
        """Returns the scores of what follows each of x, and keys and values for each block. With a cache, which has those
        of what comes before, x is one character."""
        start = 0 if cache is None else cache[0][0].shape[2]
        h = self.words(x) + self.places.weight[start:start + x.shape[1]]
        cache, present = cache or [None] * len(self.blocks), []
        for block, past in zip(self.blocks, cache):
            h, past = block(h, past)
            present.append(past)
        return self.head(self.norm(h)).flatten(0, 1), present


def pieces(text, starts, window):
    x = torch.stack([text[i:i + window] for i in starts])
    return x, torch.stack([text[i + 1:i + 1 + window] for i in starts]).flatten()


def make_optimizer(net, lr):
    return torch.optim.AdamW(net.parameters(), lr=lr)


def train(net, text, digest, args):
    """Returns the seconds of a step."""
    opt = make_optimizer(net, args.lr)
    settings = {k: getattr(args, k) for k in ("blocks", "width", "heads", "context", "batch", "lr", "seed")}
    settings["text"] = digest
    now = first = 0
    if args.checkpoint and os.path.exists(args.checkpoint):
        saved = torch.load(args.checkpoint, map_location=args.device)
        if saved["settings"] != settings:
            sys.exit(f"chars: {args.checkpoint} is of a run with {saved['settings']}, and this one has {settings}")
        net.load_state_dict(saved["model"])
        opt.load_state_dict(saved["optimizer"])
        now = first = saved["step"]
    stops = []
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: stops.append(1))
    began = said = time.perf_counter()
    step = 0.0
    while not stops and now < args.steps:
        rng = np.random.default_rng([args.seed, now])
        x, y = pieces(text, rng.integers(0, len(text) - args.context, args.batch), args.context)
        loss = F.cross_entropy(net(x)[0], y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        now += 1
        if not stops and now < args.steps and time.perf_counter() - said < args.every:
            continue
        value = loss.item()
        if not math.isfinite(value):
            sys.exit(f"chars: the loss is {value} after step {now}: try a smaller --lr")
        if args.checkpoint:
            state = {"settings": settings, "step": now, "model": net.state_dict(), "optimizer": opt.state_dict()}
            torch.save(state, args.checkpoint + ".tmp")
            os.replace(args.checkpoint + ".tmp", args.checkpoint)
        said = time.perf_counter()
        step = (said - began) / (now - first)
        end = "  \r" if sys.stderr.isatty() and not stops and now < args.steps else "\n"
        print(f"step {now} of {args.steps}, loss {value:.4f}, {1e6 * step:.0f} µs a step", end=end, file=sys.stderr, flush=True)
    if now < args.steps:
        sys.exit(f"chars: interrupted after step {now} of {args.steps}")
    return step


def test(net, text, window):
    """Returns the loss on what the model has not seen, and the part of the characters that it foresees."""
    x, y = pieces(text, range(0, len(text) - window, window)[:64], window)
    with torch.no_grad():
        scores, _ = net(x)
    return F.cross_entropy(scores, y).item(), (scores.argmax(1) == y).float().mean().item()


def write(net, alphabet, first, args):
    """Returns what the model makes up after a first character. When the context is full, its last half goes on."""
    numbers, x, cache = [first], [first], None
    for _ in range(args.write):
        with torch.no_grad():
            scores, cache = net(torch.tensor([x], device=args.device), cache)
        if args.temperature == 0:
            numbers.append(scores[-1].argmax().item())
        else:
            numbers.append(torch.multinomial(F.softmax(scores[-1] / args.temperature, 0), 1).item())
        x = numbers[-1:]
        if cache[0][0].shape[2] == args.context:
            x, cache = numbers[-(args.context // 2):], None
    return "".join(alphabet[i] for i in numbers[1:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", default="examples/chars/testdata/opticks.txt", help="the text, a file in UTF-8")
    parser.add_argument("--device", default="cpu", help="what to compute on")
    parser.add_argument("--seed", type=int, default=1, help="number that weights, batches and what is written follow from")
    parser.add_argument("--blocks", type=int, default=2, help="how many blocks there are")
    parser.add_argument("--width", type=int, default=64, help="features of a character")
    parser.add_argument("--heads", type=int, default=4, help="how many heads a block has")
    parser.add_argument("--context", type=int, default=64, help="how many characters it sees")
    parser.add_argument("--batch", type=int, default=16, help="pieces of the text in a step")
    parser.add_argument("--steps", type=int, default=2000, help="number of steps")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--write", type=int, default=500, help="characters to write")
    parser.add_argument("--temperature", type=float, default=0.8, help="0 writes what is likeliest, larger numbers more of the rest")
    parser.add_argument("--checkpoint", help="file to keep the run in, and to resume from if it is there")
    parser.add_argument("--every", type=float, default=3, help="seconds between lines that say the loss, and between checkpoints")
    parser.add_argument("--json", action="store_true", help="print the results as JSON, too")
    args = parser.parse_args()
    sizes = (args.blocks, args.width, args.heads, args.context - 1, args.batch)
    if min(sizes) < 1 or args.width % args.heads or min(args.steps, args.write) < 0 or not args.temperature >= 0:
        parser.error("sizes are 1 or more, the context 2, heads divide the width, and steps, what is written and temperature are 0 "
                     "or more")
    alphabet, text, unseen, digest = read(args.text, args.context)
    torch.manual_seed(args.seed)
    net = Model(len(alphabet), args.blocks, args.width, args.heads, args.context).to(args.device)
    step = train(net, text.to(args.device), digest, args)
    net.eval()
    loss, accuracy = test(net, unseen.to(args.device), args.context)
    said = write(net, alphabet, text[0].item(), args)
    print(f"{said}\n\nloss {loss:.4f}, {100 * accuracy:.2f} % are foreseen, in text that was not trained on")
    if args.json:
        print(json.dumps({"accuracy": accuracy, "loss": loss, "step_us": 1e6 * step, "device": args.device}))


if __name__ == "__main__":
    main()
