// Goes against the arrows on purpose: tests/structure proves that the scan sees it.
#pragma once
#include <torch/torch.h>
#include "isa/isa.h"
