#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "memory/error.h"

namespace trn {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and written as they stand in memory");

class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes(&value, sizeof value);
  }
  void text(std::string_view s) {
    put(static_cast<uint32_t>(s.size()));
    bytes(s.data(), s.size());
  }
  void bytes(const void* data, size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), from, from + size);
  }
  size_t size() const { return out_.size(); }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  std::vector<std::byte> out_;
};

// Reads what ByteWriter wrote. Every length is checked against the bytes that are left before anything is allocated for
// it.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string what) : rest_(bytes), what_(std::move(what)) {}

  template <class T>
  T get() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto s = bytes(get<uint32_t>());
    return {reinterpret_cast<const char*>(s.data()), s.size()};
  }
  std::span<const std::byte> bytes(uint64_t size) {
    if (size > rest_.size()) fail("ends too early");
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  // A number of things that take at least `least` bytes each.
  uint32_t count(size_t least) {
    const auto n = get<uint32_t>();
    if (n > rest_.size() / least) fail("names more items than it holds");
    return n;
  }
  size_t left() const { return rest_.size(); }
  [[noreturn]] void fail(const std::string& how) const { throw Error(Fault::illegal, what_ + " " + how); }

 private:
  std::span<const std::byte> rest_;
  std::string what_;
};

}  // namespace trn
