#include "isa/sendrecv.h"

#include <cstring>

namespace trn {
namespace {

// Calls visit(host address) for every element in pattern order.
template <class Visit>
void walk(const Access& a, const CoreMemory& m, int dim, std::byte* at, const Visit& visit) {
  if (dim == a.ndim) return visit(at);
  const ptrdiff_t step = host_step(a, dim, m);
  for (int i = 0; i < a.dims[static_cast<size_t>(dim)].count; ++i) walk(a, m, dim + 1, at + i * step, visit);
}

std::vector<std::byte> gathered(const Access& a, const CoreMemory& m) {
  std::vector<std::byte> out(static_cast<size_t>(a.bytes()));
  const auto size = static_cast<size_t>(size_of(a.dtype));
  std::byte* to = out.data();
  walk(a, m, 0, address(a, m), [&](const std::byte* from) {
    std::memcpy(to, from, size);
    to += size;
  });
  return out;
}

void scatter(const Access& a, const CoreMemory& m, const std::vector<std::byte>& bytes) {
  const auto size = static_cast<size_t>(size_of(a.dtype));
  const std::byte* from = bytes.data();
  walk(a, m, 0, address(a, m), [&](std::byte* to) {
    std::memcpy(to, from, size);
    from += size;
  });
}

}  // namespace

// `a` is of core 0. Both sources are read before either destination is written, so that a swap in place works.
void SendRecv::exchange(const Args& a, const CoreMemory& m, const Args& b, const CoreMemory& n) {
  if (a.src.elements() != b.dst.elements() || b.src.elements() != a.dst.elements() || a.src.dtype != b.src.dtype)
    throw Error(Fault::illegal, "the two cores of a sendrecv disagree about what they exchange",
                to_string(a.src) + " and " + to_string(b.dst));
  if (a.send_to_rank == b.send_to_rank)
    throw Error(Fault::illegal, "both cores of a sendrecv send to core " + std::to_string(a.send_to_rank));
  const bool stays = a.send_to_rank == 0;  // each core sends to itself
  const std::vector<std::byte> mine = gathered(a.src, m), theirs = gathered(b.src, n);
  scatter(a.dst, m, stays ? mine : theirs);
  scatter(b.dst, n, stays ? theirs : mine);
}

}  // namespace trn
