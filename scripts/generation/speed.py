"""Times a GPT-2 in PyTorch with its cache, as examples/gpt2 does: scripts/generation/speed.py FOLDER [WIDTH BLOCKS HEADS VOCAB].

Makes a model of random weights in FOLDER if it has none: GPT-2's smallest, 768 12 12 50257, unless sizes are given. It has the
tokenizer of testdata/generation/gpt2. Needs torch and transformers.
"""
import pathlib
import shutil
import sys
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel

folder = pathlib.Path(sys.argv[1])
if not (folder / "model.safetensors").exists():
    width, blocks, heads, vocab = [int(v) for v in sys.argv[2:]] or (768, 12, 12, 50257)
    torch.manual_seed(1)
    GPT2LMHeadModel(GPT2Config(n_embd=width, n_layer=blocks, n_head=heads, vocab_size=vocab)).save_pretrained(folder)
    for name in ["vocab.json", "merges.txt"]:
        shutil.copy("testdata/generation/gpt2/" + name, folder)
model = GPT2LMHeadModel.from_pretrained(folder).eval()
tokens = torch.tensor([list(range(40, 56))])
with torch.no_grad():
    for n in [2, 20]:  # the first warms up
        y = model(tokens, use_cache=True)
        began, used = time.perf_counter(), time.process_time()
        for _ in range(n):
            y = model(y.logits[:, -1:].argmax(-1), past_key_values=y.past_key_values, use_cache=True)
        took, used = time.perf_counter() - began, time.process_time() - used
print(f"{n / took:.1f} tokens a second, {1000 * used / n:.1f} ms of processor time each")
