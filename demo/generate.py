"""Sixteen greedy tokens from a tiny Llama and a tiny Qwen3 with random weights: neuron must choose what CPU does."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

SHAPE = dict(
    vocab_size=320,
    hidden_size=64,
    intermediate_size=160,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=128,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=None,
)
MODELS = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SHAPE)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SHAPE, head_dim=16)),
}


def run(name: str, device: str) -> list[int]:
    torch.manual_seed(7)
    model = MODELS[name]().eval()
    prompt = torch.randint(2, SHAPE["vocab_size"], (1, 12))
    model, prompt = model.to(device), prompt.to(device)
    tokens = model.generate(prompt, max_new_tokens=16, do_sample=False)
    return tokens[0, prompt.shape[1] :].tolist()
