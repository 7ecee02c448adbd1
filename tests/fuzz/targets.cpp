#include "tests/fuzz/targets.h"

#include <boost/crc.hpp>
#include <boost/uuid/detail/md5.hpp>
#include <cstring>
#include <stdexcept>

#include "isa/assembly.h"
#include "isa/canonical.h"
#include "isa/container.h"
#include "isa/payload.h"
#include "isa/spec_json.h"
#include "isa/table.h"
#include "isa/tar.h"
#include "isa/unroll.h"
#include "sim/simulate.h"
#include "tests/isa/every_card.h"

namespace trn::test {
namespace {

constexpr uint64_t kMostSteps = 2000;  // of a Program that a fuzzer made up

std::string_view text_of(std::span<const std::byte> b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

void must(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

template <class Parse>
void parse(const Parse& p) {
  try {
    p();
  } catch (const Error& e) {
    must(e.fault() != Fault::internal, "an input made an internal error");
  }
}

// A Program that was read: both forms give it back; check() judges it; what passes can be timed or is stopped.
void judge(const Program& p) {
  must(identical(from_assembly(to_assembly(p)), p), "the text does not give the Program back");
  must(identical(deserialise(serialise(p)), p), "the file does not give the Program back");
  if (check(p, trn2())) return;
  parse([&] {
    if (!has_control(p)) return static_cast<void>(simulate(p, trn2()));
    const Unrolled u = unroll(p, trn2(), {}, kMostSteps);
    simulate(work_of(u.program, trn2()), trn2());
  });
}

// ---- assembly ----

constexpr std::string_view kControl = R"(program "loop" target "trn2" cores 2
slot 0 inout "x" int32 4096 [1024]
bytes 00ff
source 1 "a.py:1"
c0.sync register_alloc dst=r0 x=7
c0.sync register_load dst=r1 src=hbm.int32@s0+0[1x1]
c0.sync loop counter=r2 start=r0 stop=9 step=1
c0.sync dma_copy dst=sbuf.int32@p0+0[1x1,1x4] src=hbm.int32@s0+0[1x4,4xr2] queue=0 wait=s1>=0+1*r2 post=s0 from=1
c0.sync end_loop
c0.vector loop counter=r2 start=7 stop=9
c0.vector tensor_copy dst=sbuf.int32@p0+64[1x1,1x4] src=sbuf.int32@p0+0[1x1,1x4] wait=s0>=1 post=s1
c0.vector end_loop
c0.gpsimd label label_id=1
c0.gpsimd compare_branch cmp_op=less cmp0=1 cmp1=0 label_id=1
c0.gpsimd sendrecv src=sbuf.int32@p0+0[1x1,1x4] dst=sbuf.int32@p0+0[1x1,1x4] queue=0
c1.gpsimd sendrecv src=sbuf.int32@p0+0[1x1,1x4] dst=sbuf.int32@p0+0[1x1,1x4] send_to_rank=0 recv_from_rank=0 queue=0
)";

// A Program for each card, with its examples.
std::vector<Program> programs() {
  std::vector<Program> all{from_assembly(kControl)};
  const Program every = every_card();
  for (const Instruction& i : every.instructions) {
    if (all.back().instructions.empty() || all.back().instructions.back().card != i.card || all.size() == 1) {
      Program& p = all.emplace_back(every);
      p.instructions.clear();
      p.constants.resize(5);
      p.slots[2].constant_offset = 0;
    }
    all.back().instructions.push_back(i);
  }
  for (Program& p : all) p = canonical(p);
  return all;
}

void feed_assembly(std::span<const std::byte> b) {
  parse([&] { judge(from_assembly(text_of(b))); });
}
std::vector<Bytes> assembly_seeds() {
  std::vector<Bytes> all;
  for (const Program& p : programs()) all.push_back(bytes_of(to_assembly(p)));
  return all;
}
std::vector<std::string> assembly_words() {
  std::vector<std::string> all{"\n",
                               "\nc0.sync ",
                               "\nc1.vector ",
                               "\nslot ",
                               "\nbytes ",
                               "\nsource ",
                               " wait=s0>=",
                               "+1*r0",
                               " post=s",
                               " queue=",
                               " from=",
                               "r0",
                               "xr63",
                               "@s0+",
                               "@p0+",
                               "1x1",
                               "nan:7ff8",
                               "-1",
                               "0",
                               "65535",
                               "65536",
                               "2147483647",
                               "-2147483648",
                               "4294967295",
                               "9223372036854775807",
                               "18446744073709551616"};
  for (const CardDoc& d : card_docs()) {
    all.push_back(" " + std::string(d.name));
    for (const FieldDoc& f : d.fields) all.push_back(" " + std::string(f.name) + "=");
  }
  for (const DtypeInfo& d : kDtypes) all.emplace_back(d.name);
  return all;
}

// ---- containers: the checksums are made right again, so that what stands behind them is reached ----

void feed_payload(std::span<const std::byte> b) {
  Bytes whole = serialise(Program{});
  whole.resize(16);  // magic, version, checksum
  boost::crc_32_type crc;
  crc.process_bytes(b.data(), b.size());
  const uint32_t sum = crc.checksum();
  std::memcpy(whole.data() + 12, &sum, sizeof sum);
  whole.insert(whole.end(), b.begin(), b.end());
  parse([&] { judge(deserialise(whole)); });
}
std::vector<Bytes> payload_seeds() {
  std::vector<Bytes> all;
  for (const Program& p : programs()) {
    const Bytes b = serialise(p);
    all.emplace_back(b.begin() + 16, b.end());
  }
  return all;
}
std::vector<std::string> binary_words() {
  using namespace std::string_literals;
  return {"\xff\xff\xff\xff"s,
          "\xff\xff\xff\x7f"s,
          "\0\0\0\x80"s,
          "\0\0\0\0\0\0\0\x80"s,
          "\xff\xff\xff\xff\xff\xff\xff\x7f"s,
          "\0\0\0\0"s,
          "\x01\0\0\0"s,
          "ustar\0"
          "00"s,
          "trnsim/program"s};
}

void feed_container(std::span<const std::byte> b) {
  parse([&] { judge(from_container(b)); });
  constexpr size_t kHeader = 1024, kDataSize = 16, kHash = 172;
  if (b.size() < kHeader) return;
  Bytes mended(b.begin(), b.end());
  const uint64_t size = b.size() - kHeader;
  std::memcpy(mended.data() + kDataSize, &size, sizeof size);
  boost::uuids::detail::md5 hash;
  hash.process_bytes(mended.data() + kHeader, size);
  boost::uuids::detail::md5::digest_type digest;
  hash.get_digest(digest);
  std::memcpy(mended.data() + kHash, &digest, sizeof digest);
  parse([&] { judge(from_container(mended)); });
}
std::vector<Bytes> container_seeds() {
  Program empty;
  return {to_container(from_assembly(kControl)), to_container(empty)};
}

// ---- Spec ----

void feed_spec(std::span<const std::byte> b) {
  parse([&] {
    const Spec s = spec_from_json(text_of(b), "fuzz");
    const std::string text = spec_to_json(s);
    must(spec_to_json(spec_from_json(text, "again")) == text, "the Spec's text does not give the Spec back");
    simulate(Program{}, s);
  });
}
std::vector<Bytes> spec_seeds() {
  return {bytes_of(spec_to_json(trn2())), bytes_of(R"({"name":"x","base":"trn2","numbers":{"dma_queues":32}})"),
          bytes_of(R"({"name":"y","base":"trn2","generation":"trn3","numbers":{"tensor_ghz":{"value":2.8,)"
                   R"("provenance":"assumed","source":"a \u00e9","spread":0.1}}})")};
}
std::vector<std::string> spec_words() {
  std::vector<std::string> all{"{",
                               "}",
                               "[",
                               "]",
                               ",",
                               ":",
                               "null",
                               "true",
                               "1e308",
                               "-1",
                               "0",
                               "\"base\":\"trn2\"",
                               "\"value\":",
                               "\"provenance\":\"measured\"",
                               "\"source\":\"\\ud800\"",
                               "\"spread\":"};
  for (const SpecField& f : spec_fields()) all.push_back("\"" + std::string(f.name) + "\":");
  return all;
}

const FuzzTarget kTargets[] = {
    {"assembly", &feed_assembly, &assembly_seeds, &assembly_words},
    {"payload", &feed_payload, &payload_seeds, &binary_words},
    {"container", &feed_container, &container_seeds, &binary_words},
    {"spec", &feed_spec, &spec_seeds, &spec_words},
    profile_target(),
};

}  // namespace

std::span<const FuzzTarget> fuzz_targets() { return kTargets; }

const FuzzTarget& fuzz_target(std::string_view name) {
  for (const FuzzTarget& t : kTargets)
    if (t.name == name) return t;
  throw std::out_of_range("no such parser: " + std::string(name));
}

}  // namespace trn::test
