#include "isa/field_text.h"

#include <limits>

namespace trn {
namespace {

template <class F, class Bits>
void print_float(std::string& out, F value) {
  if (std::isnan(value)) {
    char text[24];
    const auto [end, error] = std::to_chars(text, text + sizeof text, std::bit_cast<Bits>(value), 16);
    out.append("nan:").append(text, end);
    return;
  }
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  out.append(text, end);
}

template <class F, class Bits>
void scan_float(Scan& in, F& value) {
  if (!in.take("nan:")) {
    value = in.number<F>("a number");
    if (std::isnan(value)) in.fail("NaN is written as nan: and its bits");
    return;
  }
  Bits bits{};
  const std::string_view rest = in.rest();
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bits, 16);
  value = std::bit_cast<F>(bits);
  if (error != std::errc{} || !std::isnan(value)) in.fail("expected the bits of a NaN");
  in.drop(static_cast<size_t>(end - rest.data()));
}

void print_dim(std::string& out, const Dim& d) {
  out += std::to_string(d.step) + 'x';
  if (d.is_dynamic())
    print(out, Register{static_cast<uint8_t>(d.reg())});
  else
    out += std::to_string(d.count);
}
void scan_dim(Scan& in, Dim& d) {
  d.step = in.number<int32_t>("a step");
  in.expect("x");
  if (in.rest().starts_with('r')) {
    Register r;
    scan(in, r);
    d = Dim::dynamic(r.number, d.step);
  } else {
    d.count = in.number<int32_t>("a count");
    if (d.is_dynamic()) in.fail("a count is not negative");
  }
}

}  // namespace

void print(std::string& out, Register r) { out += 'r' + std::to_string(r.number); }
void scan(Scan& in, Register& r) {
  in.expect("r");
  r.number = in.number<uint8_t>("a register");
  if (r.number >= kRegisters) in.fail("an engine has registers r0 to r" + std::to_string(kRegisters - 1));
}
void print(std::string& out, RegisterOperand o) {
  if (o.is_register()) return print(out, Register{static_cast<uint8_t>(o.reg)});
  out += std::to_string(o.immediate);
}
void scan(Scan& in, RegisterOperand& o) {
  o = {};
  if (!in.rest().starts_with('r')) return scan(in, o.immediate);
  Register r;
  scan(in, r);
  o = RegisterOperand::of(r);
}

void scan(Scan& in, bool& value) {
  value = in.take("true");
  if (!value) in.expect("false");
}
void scan(Scan& in, int32_t& value) { value = in.number<int32_t>("a whole number"); }
void print(std::string& out, double value) { print_float<double, uint64_t>(out, value); }
void print(std::string& out, float value) { print_float<float, uint32_t>(out, value); }
void scan(Scan& in, double& value) { scan_float<double, uint64_t>(in, value); }
void scan(Scan& in, float& value) { scan_float<float, uint32_t>(in, value); }

// On chip, `buffer` is 0 after allocation; before it, a virtual tile's number: sbuf.float32@t3,p0+0[...].
void print(std::string& out, const Access& a) {
  print(out, a.space);
  if (!a.present()) return;
  out += '.';
  print(out, a.dtype);
  out += '@';
  if (a.space == Space::hbm) {
    out += 's' + std::to_string(a.buffer);
    if (a.partition) out += ",p" + std::to_string(a.partition);
  } else {
    if (a.buffer) out += 't' + std::to_string(a.buffer) + ',';
    out += 'p' + std::to_string(a.partition);
  }
  out += '+' + std::to_string(a.offset) + '[';
  for (int i = 0; i < a.ndim; ++i) {
    if (i) out += ',';
    print_dim(out, a.dims[static_cast<size_t>(i)]);
  }
  out += ']';
}

void scan(Scan& in, Access& a) {
  a = {};
  scan(in, a.space);
  if (!a.present()) return;
  in.expect(".");
  scan(in, a.dtype);
  in.expect("@");
  if (a.space == Space::hbm) {
    in.expect("s");
    a.buffer = in.number<uint32_t>("a slot number");
    if (in.take(",p")) a.partition = in.number<uint8_t>("a partition");
  } else {
    if (in.take("t")) {
      a.buffer = in.number<uint32_t>("a tile number");
      in.expect(",");
    }
    in.expect("p");
    a.partition = in.number<uint8_t>("a partition");
  }
  in.expect("+");
  a.offset = in.number<int64_t>("a byte offset");
  in.expect("[");
  while (!in.take("]")) {
    if (a.ndim == Access::kMaxDims) in.fail("an operand has at most " + std::to_string(Access::kMaxDims) + " dims");
    if (a.ndim) in.expect(",");
    scan_dim(in, a.dims[a.ndim++]);
  }
}

void print(std::string& out, const Operand& o) {
  if (o.is_tile()) return print(out, o.tile);
  print(out, o.immediate);
}
void scan(Scan& in, Operand& o) {
  o = {};
  if (in.rest().starts_with("sbuf.") || in.rest().starts_with("psum.") || in.rest().starts_with("hbm."))
    return scan(in, o.tile);
  scan(in, o.immediate);
}

void print(std::string& out, const Pattern& p) {
  out += '[';
  for (size_t i = 0; i < p.size(); ++i) {
    if (i) out += ',';
    print_dim(out, p[i]);
  }
  out += ']';
}
void scan(Scan& in, Pattern& p) {
  in.expect("[");
  for (size_t i = 0; i < p.size(); ++i) {
    if (i) in.expect(",");
    scan_dim(in, p[i]);
  }
  in.expect("]");
}

void print(std::string& out, const RowColumn& p) {
  out += '[' + std::to_string(p[0]) + ',' + std::to_string(p[1]) + ']';
}
void scan(Scan& in, RowColumn& p) {
  in.expect("[");
  p[0] = in.number<int32_t>("a row");
  in.expect(",");
  p[1] = in.number<int32_t>("a column");
  in.expect("]");
}

void print(std::string& out, const ShuffleMask& m) {
  out += '[';
  for (size_t i = 0; i < m.size(); ++i) out += (i ? "," : "") + std::to_string(m[i]);
  out += ']';
}
void scan(Scan& in, ShuffleMask& m) {
  in.expect("[");
  for (size_t i = 0; i < m.size(); ++i) {
    if (i) in.expect(",");
    m[i] = in.number<uint8_t>("a partition");
  }
  in.expect("]");
}

}  // namespace trn
