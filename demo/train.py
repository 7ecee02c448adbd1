"""A small MLP, twenty AdamW steps on a fixed regression: losses by step."""

import torch
from torch import nn


def run(device: str, steps: int = 20) -> list[float]:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    x = torch.randn(96, 32)
    y = torch.sin(x.sum(1, keepdim=True))
    model, x, y = model.to(device), x.to(device), y.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
