// Goes against the arrows on purpose: tests/structure proves that the scan sees it.
#pragma once
#include "isa/isa.h"
#include <torch/torch.h>
