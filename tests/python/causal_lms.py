"""Every CausalLM of Transformers, made tiny, on the device against the CPU. Slow: run as a script.

    python tests/python/causal_lms.py                  # logits, gradients and greedy tokens in float32
    python tests/python/causal_lms.py --only llama mamba --verbose
    python tests/python/causal_lms.py --shard 0/2

Every architecture has a forked child. What does not run on the CPU from its tiny configuration (it is not small,
needs a package or a checkpoint) is left out and counted. `host`: right, but by host fallback.
"""

import argparse
import copy
import inspect
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, GenerationConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

NEURON = "neuron"
LOGITS, GRADIENTS, FLOOR = 1e-4, 1e-3, 1e-3  # relative L2; gradients below FLOOR of the largest count as that large
VOCABULARY, TOKENS, NEW = 128, 9, 3
MOST_PARAMETERS = 20_000_000
SIZES = {
    ("hidden_size", "n_embd", "d_model", "dim", "embedding_size", "word_embed_proj_dim", "attention_hidden_size"): 64,
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers", "encoder_layers"): 2,
    ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads", "encoder_attention_heads"): 4,
    ("num_key_value_heads", "num_kv_heads"): 2,
    ("head_dim", "qk_nope_head_dim", "v_head_dim", "linear_key_head_dim", "linear_value_head_dim"): 16,
    ("qk_rope_head_dim",): 8,
    ("kv_lora_rank", "q_lora_rank"): 16,
    ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "decoder_ffn_dim", "encoder_ffn_dim"): 96,
    ("moe_intermediate_size", "shared_expert_intermediate_size", "expert_ffn_hidden_size"): 32,
    ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"): 4,
    ("num_experts_per_tok", "moe_topk", "top_k_experts", "moe_k", "moe_top_k"): 2,
    ("rotary_dim",): 8,
    ("n_group", "topk_group", "n_shared_experts", "first_k_dense_replace"): 1,
    ("vocab_size",): VOCABULARY,
    ("vocab_size_per_layer_input",): VOCABULARY,
    ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "context_length"): 64,
    ("sliding_window", "attention_window"): 8,
    ("pad_token_id",): 0,
    ("bos_token_id", "decoder_start_token_id"): 1,
    ("eos_token_id",): 2,
    (
        "hidden_dropout",
        "attention_dropout",
        "dropout",
        "embd_pdrop",
        "attn_pdrop",
        "resid_pdrop",
        "activation_dropout",
    ): 0.0,
    ("hidden_dropout_prob", "attention_probs_dropout_prob", "embedding_dropout", "layerdrop", "residual_dropout"): 0.0,
}
SMALL = {name: value for names, value in SIZES.items() for name in names}
# Where widths follow from each other otherwise than above.
SPECIAL = {
    "mamba2": dict(num_heads=8, head_dim=16, state_size=16, n_groups=1),
    "falcon_mamba": dict(state_size=8),
    "bamba": dict(attn_layer_indices=[1], mamba_n_heads=8, mamba_d_head=16, mamba_d_state=16, mamba_n_groups=1),
    "jamba": dict(attn_layer_period=2, attn_layer_offset=1, mamba_d_state=8, mamba_dt_rank=4),
    "granitemoehybrid": dict(
        layer_types=["mamba", "attention"], mamba_n_heads=8, mamba_d_head=16, mamba_d_state=16, mamba_n_groups=1
    ),
    "bailing_hybrid": dict(layer_group_size=2),
    "kimi_linear": dict(layer_types=["linear_attention", "full_attention"]),
    "lfm3": dict(layer_types=["conv", "full_attention"]),
    "lfm2_moe": dict(layer_types=["conv", "full_attention"]),
    "longcat_flash": dict(head_dim=8),
    "reformer": dict(attn_layers=["local", "local"], is_decoder=True, axial_pos_embds=False, local_attn_chunk_length=4),
}


def tiny(name):
    kind = CONFIG_MAPPING[name]
    known = {p for c in kind.__mro__ if "__init__" in vars(c) for p in inspect.signature(c.__init__).parameters}
    known |= set(getattr(kind, "__annotations__", {})) | set(getattr(kind, "__dataclass_fields__", {}))
    sizes = {k: v for k, v in SMALL.items() if k in known} | SPECIAL.get(name, {})
    if "kv_lora_rank" in sizes:  # compressed keys are of all heads
        sizes["num_key_value_heads"] = sizes["num_attention_heads"]
    return kind(**sizes)


def made(config):
    with torch.device("meta"):
        size = sum(p.numel() for p in AutoModelForCausalLM.from_config(copy.deepcopy(config)).parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(f"{size} parameters are not small")
    return AutoModelForCausalLM.from_config(config).float().eval()


def relative(got, want, floor=0.0):
    got, want = got.detach().cpu().double(), want.detach().double()
    if got.shape != want.shape:
        return float("inf")
    scale = max(want.norm().item(), floor)
    return (got - want).norm().item() / scale if scale else (got - want).norm().item()


def step(model, ids):
    """Logits and the gradients of the loss, by name."""
    model.zero_grad()
    out = model(input_ids=ids, labels=ids) if "labels" in inspect.signature(model.forward).parameters else model(ids)
    loss = out.loss if getattr(out, "loss", None) is not None else out.logits.float().square().mean()
    loss.backward()
    return out.logits, {n: p.grad for n, p in model.named_parameters() if p.grad is not None}


def decode(model, ids):
    model.generation_config = GenerationConfig(pad_token_id=0, eos_token_id=None)
    text = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW, do_sample=False,
                          return_dict_in_generate=True, output_logits=True)  # fmt: skip
    return text.sequences[:, ids.shape[1] :].cpu(), torch.stack(text.logits, 1).cpu()


def on_cpu(name):
    torch.manual_seed(0)
    model = made(tiny(name))
    with torch.no_grad():  # zero biases and unit scales would hide what is done with them, zero routers choose nothing
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.02)
    ids = torch.randint(3, VOCABULARY, (2, TOKENS), generator=torch.Generator().manual_seed(0))
    wanted = step(copy.deepcopy(model), ids)
    if not all(torch.isfinite(t).all() for t in (wanted[0], *wanted[1].values())):
        raise ValueError("the CPU's own results are not finite")
    try:
        return model, ids, wanted, decode(copy.deepcopy(model), ids)
    except Exception:
        return model, ids, wanted, None


def check(name, report):
    try:
        model, ids, (logits, gradients), decoded = on_cpu(name)
    except Exception as error:
        return report("left out", f"{type(error).__name__}: {' '.join(str(error).split())[:150]}")
    import torch_neuronx

    device = copy.deepcopy(model).to(NEURON)
    device.tie_weights()
    got, grads = step(device, ids.to(NEURON))
    errors = [("logits", relative(got, logits), LOGITS)]
    floor = FLOOR * max((g.norm().item() for g in gradients.values()), default=0)
    if set(grads) != set(gradients):
        return report("wrong", f"gradients of {set(grads) ^ set(gradients)}")
    errors += [(f"gradient of {n}", relative(grads[n], g, floor), GRADIENTS) for n, g in gradients.items()]
    if decoded is not None:
        tokens, scores = decode(device, ids.to(NEURON))
        same = (tokens == decoded[0]).all(0).cumprod(0).sum().item()  # what follows another token is another text
        errors.append(("decode", relative(scores[:, : same + 1], decoded[1][:, : same + 1]), LOGITS))
    bad = [f"{what}: {error:.1e} > {limit:.0e}" for what, error, limit in errors if not error <= limit]
    hosts = sorted(torch_neuronx.get_fallback_ops())
    worst = f"worst {max(e for _, e, _ in errors):.1e}"
    return report("wrong" if bad else "host" if hosts else "ok", "; ".join(bad[:3]) or ", ".join(hosts) or worst)


def in_child(name, options):
    with tempfile.TemporaryFile("w+") as records:
        child = os.fork()
        if child == 0:
            signal.alarm(options.timeout)
            resource.setrlimit(resource.RLIMIT_DATA, (12 << 30, 12 << 30))
            torch.set_num_threads(1)
            if not options.verbose:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
            try:
                check(name, lambda *record: print(json.dumps(record), file=records, flush=True))
            except BaseException as error:
                traceback.print_exc()
                record = ("error", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
                print(json.dumps(record), file=records, flush=True)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        records.seek(0)
        lines = [json.loads(line) for line in records]
    return lines[-1] if lines else ("died", signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--timeout", type=int, default=240)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    index, count = map(int, options.shard.split("/"))
    names = [
        n for n in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES if n in CONFIG_MAPPING and (not options.only or n in options.only)
    ]
    tally = Counter()
    for name in names[index::count]:
        state, reason = in_child(name, options)
        tally[state] += 1
        print(f"{state:8} {name:28} {reason}", flush=True)
    print("architectures:", ", ".join(f"{n} {state}" for state, n in tally.most_common()))
    return 1 if tally["wrong"] or tally["error"] or tally["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
