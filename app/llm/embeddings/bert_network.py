"""Writes the network of a BERT sentence model as an ONNX file from its weights, in a second and without torch.

The layers are those of Devlin et al. (NAACL 2019), section 3, written with ONNX Runtime's fused operators, six for a
layer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Weights = Mapping[str, npt.NDArray[Any]]
INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_OWN: Final = "com.microsoft"
_OPSETS: Final = {"": 17, _OWN: 1}
_IR_VERSION: Final = 9
_HEADED: Final = "bert."
"""Prefix of layer names in files of models that were saved with an output head."""
_SELF: Final = ("query", "key", "value")


def is_plain_bert(model: Path) -> bool:
    """True if `write_bert` can write the network of the model in the folder `model`."""
    from safetensors import SafetensorError, safe_open

    try:
        config = json.loads((model / "config.json").read_text("utf-8"))
        with safe_open(str(model / "model.safetensors"), framework="numpy") as opened:
            names = {name.removeprefix(_HEADED) for name in opened.keys()}  # noqa: SIM118  # it is no mapping
    except (OSError, ValueError, SafetensorError):
        return False
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and f"encoder.layer.{config.get('num_hidden_layers', 0) - 1}.output.dense.weight" in names
    )


def write_bert(model: Path, target: Path) -> None:
    """Writes the network to the file `target`.

    It has three inputs of shape (texts, tokens), and the output `hidden`, the last layer, of shape (texts, tokens,
    dimensions). Raises OSError.
    """
    import onnx
    from safetensors.numpy import load_file

    config = json.loads((model / "config.json").read_text("utf-8"))
    weights = {name.removeprefix(_HEADED): array for name, array in load_file(model / "model.safetensors").items()}
    network = _Network(weights, config["num_attention_heads"], config["layer_norm_eps"])
    hidden = network.embeddings()
    for layer in range(config["num_hidden_layers"]):
        hidden = network.layer(hidden, f"encoder.layer.{layer}.")
    network.node("Identity", [hidden], "hidden")
    onnx.save(network.built(config["hidden_size"]), target)


@dataclass(slots=True)
class _Network:
    """The nodes and numbers of the network in order of execution. Each method returns the name of its output."""

    weights: Weights
    heads: int
    epsilon: float
    nodes: list[Any] = field(default_factory=list)
    numbers: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)

    def embeddings(self) -> str:
        from onnx import TensorProto

        for name in INPUTS:
            self.node("Cast", [name], f"{name}.32", to=TensorProto.INT32)
        tables = [f"embeddings.{of}_embeddings.weight" for of in ("word", "position", "token_type")]
        norms = [f"embeddings.LayerNorm.{part}" for part in ("weight", "bias")]
        for name in (*tables, *norms):
            self._keep(name, self.weights[name])
        given = ["input_ids.32", "token_type_ids.32", *tables, *norms]
        # Its second output, the lengths of the texts, is not used, because each layer gets the mask.
        self.nodes.append(self._made("EmbedLayerNormalization", given, ["embedded", "lengths"], epsilon=self.epsilon))
        return "embedded"

    def layer(self, given: str, at: str) -> str:
        maps = np.concatenate([self.weights[f"{at}attention.self.{each}.weight"].T for each in _SELF], axis=1)
        biases = np.concatenate([self.weights[f"{at}attention.self.{each}.bias"] for each in _SELF])
        inputs = [given, self._keep(f"{at}maps", maps), self._keep(f"{at}biases", biases), "attention_mask.32"]
        seen = self.node("Attention", inputs, f"{at}seen", num_heads=self.heads)
        seen = self._added(seen, given, f"{at}attention.output.")
        wide = self._times(seen, f"{at}intermediate.dense")
        wide = self.node("BiasGelu", [wide, self._bias(f"{at}intermediate.dense")], f"{at}wide")
        return self._added(wide, seen, f"{at}output.")

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(self._made(operator, inputs, [output], **attributes))
        return output

    def built(self, dimensions: int) -> Any:
        from onnx import TensorProto, helper, numpy_helper

        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in INPUTS]
        output = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["texts", "tokens", dimensions])
        numbers = [numpy_helper.from_array(array, name) for name, array in self.numbers.items()]
        graph = helper.make_graph(self.nodes, "bert", inputs, [output], numbers)
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)

    def _added(self, given: str, before: str, at: str) -> str:
        """Adds the linear map at `at` to its input, normalised."""
        norms = [self._keep(f"{at}{name}", self.weights[f"{at}LayerNorm.{name}"]) for name in ("weight", "bias")]
        inputs = [self._times(given, f"{at}dense"), before, *norms, self._bias(f"{at}dense")]
        return self.node("SkipLayerNormalization", inputs, f"{at}added", epsilon=self.epsilon)

    def _times(self, given: str, place: str) -> str:
        return self.node("MatMul", [given, self._keep(f"{place}.map", self.weights[f"{place}.weight"].T)], place)

    def _bias(self, place: str) -> str:
        return self._keep(f"{place}.bias", self.weights[f"{place}.bias"])

    def _keep(self, name: str, array: npt.NDArray[Any]) -> str:
        self.numbers[name] = np.ascontiguousarray(array, dtype=np.float32)
        return name

    def _made(self, operator: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
        from onnx import helper

        domain = "" if operator in ("Cast", "MatMul", "Identity") else _OWN
        return helper.make_node(operator, inputs, outputs, domain=domain, **attributes)
