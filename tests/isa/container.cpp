#include "isa/container.h"

#include <boost/crc.hpp>
#include <boost/uuid/detail/md5.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <random>

#include "isa/canonical.h"
#include "isa/payload.h"
#include "isa/tar.h"
#include "tests/isa/every_card.h"

using namespace trn;

namespace {

using Bytes = std::vector<std::byte>;

// Offsets of the public header's fields.
constexpr size_t kPackageVersion = 0, kHeaderSize = 8, kDataSize = 16, kMajor = 24, kHash = 172, kFeatureBits = 544,
                 kHeader = 1024;

Program small() {
  Program p;
  p.name = "small";
  p.slots = {{"a", SlotUse::input, Dtype::float32, 512, 0, {128, 1}},
             {"b", SlotUse::output, Dtype::float32, 512, 0, {128, 1}}};
  const auto tile = example::sbuf(128, 1);
  Instruction load, store;
  load.card = store.card = card_index<DmaCopy>;
  load.args = p.push_args(DmaCopy::Args{.dst = tile, .src = example::hbm(128, 1, Dtype::float32, 0)});
  load.update = 0;
  store.args = p.push_args(DmaCopy::Args{.dst = example::hbm(128, 1, Dtype::float32, 1), .src = tile});
  store.waits = 1;
  p.waits = {{0, 1}};
  p.instructions = {load, store};
  return p;
}

template <class T>
void put(Bytes& b, size_t at, T value) {
  std::memcpy(b.data() + at, &value, sizeof value);
}

// The header's hash made right again, so that what stands behind it is looked at.
void rehash(Bytes& b) {
  boost::uuids::detail::md5 hash;
  hash.process_bytes(b.data() + kHeader, b.size() - kHeader);
  boost::uuids::detail::md5::digest_type digest;
  hash.get_digest(digest);
  std::memcpy(b.data() + kHash, &digest, sizeof digest);
}

Error error_of(const Bytes& b) {
  try {
    from_container(b);
  } catch (const Error& e) {
    return e;
  }
  FAIL("was accepted");
  throw std::logic_error("unreachable");
}

// Neither a crash nor another exception; true if it was read.
bool reads(const Bytes& b) {
  try {
    from_container(b);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("containers and Programs give each other back") {
  const Program p = test::every_card();
  const Bytes b = to_container(p);
  const Program back = from_container(b);
  CHECK(identical(back, canonical(p)));
  CHECK(to_container(back) == b);
}

TEST_CASE("the container has the public layout") {
  const Bytes b = to_container(small());
  uint64_t size = 0, feature = 0;
  std::memcpy(&size, b.data() + kDataSize, 8);
  std::memcpy(&feature, b.data() + kFeatureBits, 8);
  CHECK(size == b.size() - kHeader);
  CHECK(feature == kContainerFeature);
  CHECK(std::strcmp(reinterpret_cast<const char*>(b.data()) + 220, "small") == 0);
  const auto members = tar_members(std::span(b).subspan(kHeader));
  REQUIRE(members.size() == 3);
  CHECK(members[0].name == "info.json");
  CHECK(members[1].name == "sg00/def.json");
  const std::string_view def(reinterpret_cast<const char*>(members[1].content.data()), members[1].content.size());
  CHECK(def.find("\"0:a\"") != std::string_view::npos);
  CHECK(def.find("\"size\": 512") != std::string_view::npos);
}

TEST_CASE("versions and features that we do not know are refused") {
  const Bytes good = to_container(small());
  Bytes b = good;
  put<uint64_t>(b, kFeatureBits, kContainerFeature | 8);
  CHECK(error_of(b).fault() == Fault::unsupported);
  CHECK(error_of(b).rule().find("0x8") != std::string::npos);
  put<uint64_t>(b, kFeatureBits, 0);
  CHECK(error_of(b).rule().find("hardware") != std::string::npos);
  b = good;
  put<uint64_t>(b, kMajor, 3);
  CHECK(error_of(b).fault() == Fault::unsupported);
  b = good;
  put<uint64_t>(b, kPackageVersion, 1);
  CHECK(error_of(b).fault() == Fault::unsupported);
  b = good;
  put<uint64_t>(b, kHeaderSize, 512);
  CHECK(error_of(b).fault() == Fault::illegal);
}

TEST_CASE("a Program of a newer format or with unknown cards is refused") {
  const Program p = small();
  Bytes b = serialise(p);
  b[8] = std::byte{99};
  CHECK_THROWS_WITH(deserialise(b), Catch::Contains("format version 99"));

  b = serialise(p);
  const std::string_view text(reinterpret_cast<const char*>(b.data()), b.size());
  const auto rewrite = [&](std::string_view from, std::string_view to) {
    Bytes changed = b;
    std::memcpy(changed.data() + text.find(from), to.data(), to.size());
    boost::crc_32_type crc;
    crc.process_bytes(changed.data() + 16, changed.size() - 16);
    put<uint32_t>(changed, 12, crc.checksum());
    return changed;
  };
  CHECK_THROWS_WITH(deserialise(rewrite("dma_copy", "dma_cozy")), Catch::Contains("dma_cozy"));
  CHECK_THROWS_WITH(deserialise(rewrite("dst:access", "dxt:access")), Catch::Contains("fields of dma_copy differ"));
}

TEST_CASE("an access pattern by a register that no engine has is refused") {
  Program p = small();
  DmaCopy::Args load = p.args<DmaCopy>(p.instructions[0]);
  for (const int reg : {kRegisters - 1, kRegisters, 130'808'360}) {
    load.src.dims[1] = Dim::dynamic(reg, 1);
    p.instructions[0].args = p.push_args(load);
    if (reg < kRegisters)
      CHECK(identical(deserialise(serialise(p)), canonical(p)));
    else
      CHECK_THROWS_WITH(deserialise(serialise(p)), Catch::Contains("a register that no engine has"));
  }
}

TEST_CASE("every truncation is refused") {
  const Bytes good = to_container(small());
  for (size_t n = 0; n < good.size(); ++n) {
    Bytes b(good.begin(), good.begin() + static_cast<ptrdiff_t>(n));
    CHECK_FALSE(reads(b));
    if (n <= kHeader) continue;
    put<uint64_t>(b, kDataSize, n - kHeader);
    rehash(b);
    CHECK_FALSE(reads(b));
  }
}

TEST_CASE("every flipped byte is refused or harmless") {
  const Program p = canonical(small());
  const Bytes good = to_container(p);
  for (size_t i = 0; i < good.size(); ++i) {
    for (const unsigned flip : {1u, 0x80u, 0xffu}) {
      Bytes b = good;
      b[i] ^= static_cast<std::byte>(flip);
      if (reads(b)) {
        REQUIRE(i < kHeader);  // names, counts and padding of the header
        REQUIRE(identical(from_container(b), p));
      }
      rehash(b);
      reads(b);
    }
  }
}

TEST_CASE("hostile payloads neither crash nor exhaust memory") {
  const Bytes good = serialise(test::every_card());
  std::mt19937 random(7);
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    Bytes b = good;
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
      const size_t at = 16 + random() % (b.size() - 20);
      if (random() % 2)
        b[at] = static_cast<std::byte>(random());
      else
        put<uint32_t>(b, at, random() % 2 ? 0xffffffff : random());
    }
    boost::crc_32_type crc;
    crc.process_bytes(b.data() + 16, b.size() - 16);
    put<uint32_t>(b, 12, crc.checksum());
    try {
      const Program p = deserialise(b);
      check(p, trn2());  // must be able to judge whatever was read
      ++read;
    } catch (const Error&) {
    }
  }
  CHECK(read > 0);
}

TEST_CASE("archives round trip and refuse damage") {
  Bytes archive;
  const Bytes content(513, std::byte{7});
  tar_append(archive, "a", {});
  tar_append(archive, "b/c", content);
  tar_finish(archive);
  CHECK(archive.size() % 512 == 0);
  const auto members = tar_members(archive);
  REQUIRE(members.size() == 2);
  CHECK(members[0].content.empty());
  CHECK(members[1].name == "b/c");
  CHECK(std::equal(members[1].content.begin(), members[1].content.end(), content.begin(), content.end()));
  archive[600] = std::byte{1};
  CHECK_THROWS_AS(tar_members(archive), Error);
}

TEST_CASE("a small Program loads in less than a millisecond") {
  const Bytes b = to_container(small());
  from_container(b);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) from_container(b);
  const auto each = (std::chrono::steady_clock::now() - start) / 20;
  CHECK(each < std::chrono::milliseconds(10));  // leaves room for busy machines and sanitizers
  WARN("from_container: " << std::chrono::duration_cast<std::chrono::microseconds>(each).count() << " us");
}
