"""Prints how many lines the programs of examples/ have beside those of PyTorch in this folder: scripts/examples/lines.py

Lines are those of gofmt and of black, without blank lines, comments, docstrings, the package clause, imports, and calls
that print. Needs black.
"""
import ast
import math
import pathlib
import re
import subprocess
import sys
import tokenize

import black

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "scripts" / "examples"

# What is compared: name, files of Go, files of Python.
PROGRAMS = [
    ("LSTM on sequences", ["lstm/main.go"], "lstm.py"),
    ("transformer that writes", ["chars/main.go"], "chars.py"),
    ("ResNet-18", ["resnet/main.go"], "resnet.py"),
    ("U-Net", ["unet/main.go"], "unet.py"),
    ("physics-informed net", ["pinn/main.go"], "pinn.py"),
    ("server", ["serve/main.go", "serve/http.go"], "serve.py"),
    ("mixed precision, parts, clipping, averages", ["mixed/main.go"], "mixed.py"),
    ("own kernel", ["customop/main.go", "customop/snake.go"], "customop.py"),
    ("PyTorch's weights by name", ["weights/main.go"], "weights.py"),
]
PRINTS = re.compile(r"\bfmt\.(Fp|P)rint|\blog\.Print|json\.NewEncoder\(os\.Stdout\)")


def go_lines(source):
    """Returns the lines that count of a file that gofmt has formatted."""
    count, depth, skip = 0, 0, False
    for line in source.splitlines():
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', '""', line)  # brackets in strings do not count
        code = code.split("//")[0].strip()
        if not code:
            continue
        if not skip and (code.startswith("package ") or code.startswith("import ") or PRINTS.search(code) and code[-1] != "{"):
            skip, depth = True, 0
        if not skip:
            count += 1
            continue
        depth += code.count("(") - code.count(")") + code.count("{") - code.count("}")
        skip = depth > 0
    return count


def python_lines(source):
    """Returns the lines that count of a source, formatted by black."""
    source = black.format_str(source, mode=black.Mode())
    skip = set()
    for node in ast.walk(ast.parse(source)):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None
        for n in [node.body[0]] if documented else []:
            skip.update(range(n.lineno, n.end_lineno + 1))
        prints = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "print"
        if prints or isinstance(node, (ast.Import, ast.ImportFrom)):
            skip.update(range(node.lineno, node.end_lineno + 1))
    kept = set()
    for t in tokenize.generate_tokens(iter(source.splitlines(True)).__next__):
        if t.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            kept.update(range(t.start[0], t.end[0] + 1))
    lines = source.splitlines()
    kept = {n for n in kept if lines[n - 1].strip() and not lines[n - 1].startswith("#include")}  # in a string with C++
    return len(kept - skip)


def main():
    files = [ROOT / "examples" / f for _, go, _ in PROGRAMS for f in go]
    if unformatted := subprocess.run(["gofmt", "-l", *files], capture_output=True, text=True, check=True).stdout:
        sys.exit("not formatted by gofmt: " + unformatted)
    print("| program | clgrad | PyTorch | ratio |\n|---|---|---|---|")
    ratios = []
    for name, go, python in PROGRAMS:
        ours = sum(go_lines((ROOT / "examples" / f).read_text()) for f in go)
        theirs = python_lines((HERE / python).read_text())
        ratios.append(ours / theirs)
        print(f"| {name} | {ours} | {theirs} | {ratios[-1]:.2f} |")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"| geometric mean | | | {mean:.2f} |")


if __name__ == "__main__":
    main()
