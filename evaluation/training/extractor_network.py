"""The network of `app.extractor.network` on torch, to be trained."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from app.extractor.features import MARKS
from app.extractor.network import KINDS, ExtractorConfig, ExtractorWeights, PaddedQuestions, positions


class ExtractorNetwork(nn.Module):
    """Scores words; the layers of the sentence model below are frozen."""

    def __init__(self, config: ExtractorConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        words, width, layers = config.dimensions, config.width, range(config.layers)
        self.project = nn.Linear(words, width)
        self.asked, self.match = (nn.Linear(words, width, bias=False) for _ in range(2))
        self.before, self.after = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.mark = nn.Linear(MARKS, width, bias=False)
        self.kind, self.direction = nn.Embedding(KINDS, width), nn.Embedding(2, width)
        self.mix = nn.ModuleList(nn.Linear(width, 3 * width) for _ in layers)
        self.told = nn.ModuleList(nn.Linear(width, width) for _ in layers)
        self.wide = nn.ModuleList(nn.Linear(width, 4 * width) for _ in layers)
        self.narrow = nn.ModuleList(nn.Linear(4 * width, width) for _ in layers)
        self.norm_mix, self.norm_wide = (nn.ModuleList(nn.LayerNorm(width) for _ in layers) for _ in range(2))
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        self.span, self.none = nn.Linear(width, 2), nn.Linear(width, 1)

    def forward(self, of: PaddedQuestions) -> tuple[Tensor, Tensor]:
        """Logits of begins and ends for each word of the contexts, shape (questions, words, 2), and of no answer."""
        kinds = torch.from_numpy(of.kinds)
        seen = (kinds >= 0)[:, None, None, :]
        hidden = self.dropout(self._embedded(of, kinds))
        for layer in range(self.config.layers):
            hidden = hidden + self.dropout(self._attended(layer, self.norm_mix[layer](hidden), seen))
            wide = functional.relu(self.wide[layer](self.norm_wide[layer](hidden)))
            hidden = hidden + self.dropout(self.narrow[layer](wide))
        hidden = self.norm(hidden)
        return self.span(hidden[:, of.first :]), self.none(hidden[:, 0])[:, 0]

    def weights(self) -> ExtractorWeights:
        arrays = {name: value.detach().numpy().astype(np.float32) for name, value in self.state_dict().items()}
        return ExtractorWeights(self.config, arrays)

    def _embedded(self, of: PaddedQuestions, kinds: Tensor) -> Tensor:
        relations = torch.from_numpy(of.relations)
        words = self.project(torch.from_numpy(of.values)) * (kinds >= 0)[..., None]
        asked = self.asked(relations) + self.direction(torch.from_numpy(of.heads))
        matched = words * self.match(relations)[:, None]
        context = words[:, of.first :]
        before = functional.pad(self.before(context[:, :-1]), (0, 0, of.first + 1, 0))
        after = functional.pad(self.after(context[:, 1:]), (0, 0, of.first, 1))
        shown = (
            words + self.mark(torch.from_numpy(of.marks)) + self.kind(kinds.clamp(min=0)) + asked[:, None] + matched
        )
        places = torch.from_numpy(positions(words.shape[1], of.first, self.config.width))
        result: Tensor = shown + before + after + places
        return result

    def _attended(self, layer: int, values: Tensor, seen: Tensor) -> Tensor:
        batch, count, width = values.shape
        heads = self.config.heads
        mixed = self.mix[layer](values).view(batch, count, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        told = functional.scaled_dot_product_attention(mixed[0], mixed[1], mixed[2], attn_mask=seen)
        result: Tensor = self.told[layer](told.transpose(1, 2).reshape(batch, count, width))
        return result
