"""Makes the files of testdata/generation: scripts/generation/reference.py DIR.

rotary.npz      rotary position embeddings, as Hugging Face's Llama (halves) and GPT-J (interleaved) compute them
sampling.json   scores after the processors of Hugging Face's transformers, for several options
gpt2/           a GPT-2 of random weights in Hugging Face's layout, with a small byte-level BPE, and expected.json: what
                its tokenizer makes of texts, and the tokens that the model continues prompts with, greedily
Needs torch and transformers.
"""
import json
import pathlib
import sys

import numpy as np
import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig
from transformers.generation.logits_process import (
    LogitsProcessorList, RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper)
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as interleaved
from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as halves

folder = pathlib.Path(sys.argv[1])
(folder / "gpt2").mkdir(parents=True, exist_ok=True)


def write(name, out):
    """Writes an object, a line for each case."""
    (folder / name).write_text(json.dumps(out).replace("}, {", "},\n{") + "\n")


def rotary(first=3, n=5, d=8, dim=4):
    """Positions from first on; interleaved only the first dim of d features are turned."""
    torch.manual_seed(1)
    x = torch.randn(1, 2, n, d)
    at = torch.arange(first, first + n)[None]
    config = LlamaConfig(hidden_size=2 * d, num_attention_heads=2, head_dim=d)
    cos, sin = LlamaRotaryEmbedding(config)(x, at)
    split, _ = halves(x, x, cos, sin)
    sin, cos = create_sinusoidal_positions(first + n, dim)[first:][None].chunk(2, dim=-1)
    part = interleaved(x[..., :dim].transpose(1, 2), sin, cos).transpose(1, 2)
    np.savez_compressed(folder / "rotary.npz", x=x.numpy(), halves=split.numpy(), interleaved=torch.cat([part, x[..., dim:]], -1).numpy())


def sampling():
    torch.manual_seed(2)
    scores = 3 * torch.randn(3, 10)
    scores[2, 1::2] = scores[2, ::2] = torch.tensor([2., 1., -1., 0.5, -0.5])
    seen = torch.tensor([[1, 1, 4], [0, 9, 5], [2, 3, 2]])
    cases = []
    for penalty, temperature, k, p in [(1, 1, 0, 1), (1.7, 1, 0, 1), (0.6, 1, 0, 1), (1, 0.5, 0, 1), (1, 1, 3, 1), (1, 1, 1, 1), (1, 1, 0, 0.9),
                                       (1, 1, 0, 0.3), (1, 1, 0, 0.01), (1, 1, 40, 0.999), (1.3, 0.8, 5, 0.8), (1.3, 2.5, 7, 0.6)]:
        list = LogitsProcessorList()
        if penalty != 1:
            list.append(RepetitionPenaltyLogitsProcessor(float(penalty)))
        if temperature != 1:
            list.append(TemperatureLogitsWarper(float(temperature)))
        if k > 0:
            list.append(TopKLogitsWarper(k))
        if p < 1:
            list.append(TopPLogitsWarper(float(p)))
        rows = slice(0, 2 if k > 0 or p < 1 else 3)  # the last row has ties, which both keep in their way
        want = torch.softmax(list(seen[rows], scores[rows].clone()), -1)
        cases.append({"penalty": penalty, "temperature": temperature, "topK": k, "topP": p, "probabilities": want.tolist()})
    out = {"scores": scores.tolist(), "seen": seen.tolist(), "cases": cases}
    write("sampling.json", out)


def gpt2():
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train(["examples/chars/testdata/opticks.txt"], vocab_size=400, min_frequency=2, special_tokens=["<|endoftext|>"], show_progress=False)
    tokenizer.save_model(str(folder / "gpt2"))
    texts = ["", "Query 31. Have not the small Particles of Bodies", " two  spaces, a\ttab\n\n and lines ", "it's they'll we've I'd O'Neil 'tis",
             "naïve Ω≈ç√ 漢字 \U0001f600\u00a0x\u2003y", "1704 and 3.14159, (x+y)*2 != 0!?", "   ", "a\r\n\r\nb", "\u0130stanbul e\u0301 \u00bd \u0663"]
    torch.manual_seed(5)
    config = GPT2Config(vocab_size=tokenizer.get_vocab_size(), n_positions=48, n_embd=24, n_layer=3, n_head=3, bos_token_id=0, eos_token_id=0,
                        initializer_range=0.5)
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():  # all parameters count, also those that begin as 0 and 1
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.add_(0.2 * torch.randn_like(p))
    model.save_pretrained(folder / "gpt2")
    (folder / "gpt2/generation_config.json").unlink()
    generated, least = [], 1.0
    for prompts, penalty in [(["Have not"], 1.0), (["Light", "Do not"], 1.0), (["a" * 20], 1.0), (["Rays", "When"], 1.4)]:
        tokens = torch.tensor([tokenizer.encode(p).ids[:2] if len(prompts) > 1 else tokenizer.encode(p).ids for p in prompts])
        y = model.generate(tokens, attention_mask=torch.ones_like(tokens), do_sample=False, repetition_penalty=penalty, min_new_tokens=20, max_new_tokens=20,
                           return_dict_in_generate=True, output_scores=True, pad_token_id=0, eos_token_id=None)
        top = torch.stack(y.scores).topk(2, -1).values
        least = min(least, (top[..., 0] - top[..., 1]).min().item())
        generated.append({"penalty": penalty, "prompts": tokens.tolist(), "tokens": y.sequences[:, tokens.shape[1]:].tolist()})
    assert least > 1e-3, f"two tokens are as likely, to {least}: take another seed"
    expected = {"texts": [{"text": t, "tokens": tokenizer.encode(t).ids} for t in texts], "generated": generated}
    write("gpt2/expected.json", expected)
    print("GPT-2:", generated[0]["tokens"], "the least margin is", least)


rotary()
sampling()
gpt2()
