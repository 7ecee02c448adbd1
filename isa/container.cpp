#include "isa/container.h"

#include <algorithm>
#include <boost/uuid/detail/md5.hpp>
#include <nlohmann/json.hpp>

#include "isa/bytes.h"
#include "isa/payload.h"
#include "isa/tar.h"

namespace trn {
namespace {

constexpr std::string_view kPayload = "trnsim/program";
constexpr uint64_t kPackageVersion = 2, kMajor = 2, kMinor = 0;

// Field order and sizes of the public NEFF header.
struct Header {
  uint64_t package_version, header_size, data_size, major, minor;
  char build_version[128];
  uint32_t tpb_count;
  uint8_t hash[32];
  uint8_t uuid[16];
  char name[256];
  uint32_t requested_tpb_count;
  uint8_t tpb_per_node[64];
  uint64_t feature_bits;
  uint32_t logical_core_size;
  uint8_t pad[468];
};
static_assert(sizeof(Header) == 1024);

std::array<uint8_t, 16> md5(std::span<const std::byte> bytes) {
  boost::uuids::detail::md5 hash;
  hash.process_bytes(bytes.data(), bytes.size());
  boost::uuids::detail::md5::digest_type digest;
  hash.get_digest(digest);
  std::array<uint8_t, 16> out;
  std::memcpy(out.data(), &digest, sizeof out);
  return out;
}

// Names come from users; a JSON text must be UTF-8.
std::string printable(std::string_view s) {
  std::string out(s);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

using Json = nlohmann::ordered_json;

std::string definition(const Program& p) {
  static constexpr std::string_view types[] = {"input", "output", "input-output", "tmp-buf", "file"};
  Json variables = Json::object();
  for (size_t i = 0; i < p.slots.size(); ++i) {
    const Slot& s = p.slots[i];
    variables[std::to_string(i) + ":" + printable(s.name)] = {{"type", types[static_cast<int>(s.use)]},
                                                              {"var_id", i},
                                                              {"size", s.bytes},
                                                              {"dtype", name(s.dtype)},
                                                              {"shape", s.shape}};
  }
  return Json{{"name", printable(p.name)}, {"var", variables}, {"dma_queue", Json::object()}}.dump(1);
}

std::span<const std::byte> as_bytes(std::string_view s) { return std::as_bytes(std::span(s.data(), s.size())); }

[[noreturn]] void damaged(const std::string& how) { throw Error(Fault::illegal, "the executable " + how); }

}  // namespace

std::vector<std::byte> to_container(const Program& p) {
  std::vector<std::byte> out(sizeof(Header));
  const std::string info = Json{
      {"name", printable(p.name)},
      {"target", printable(p.target)},
      {"producer", "trnsim"},
      {"instructions",
       p.instructions.size()}}.dump(1);
  tar_append(out, "info.json", as_bytes(info));
  const std::string def = definition(p);
  for (int core = 0; core < p.cores; ++core) tar_append(out, "sg0" + std::to_string(core) + "/def.json", as_bytes(def));
  tar_append(out, kPayload, serialise(p));
  tar_finish(out);

  Header h{};
  const std::span data = std::span(out).subspan(sizeof h);
  const auto hash = md5(data);
  h.package_version = kPackageVersion;
  h.header_size = sizeof h;
  h.data_size = data.size();
  h.major = kMajor;
  h.minor = kMinor;
  std::memcpy(h.build_version, "trnsim", 6);
  h.tpb_count = p.cores;
  std::copy(hash.begin(), hash.end(), h.hash);
  std::copy(hash.begin(), hash.end(), h.uuid);  // same Program, same file
  p.name.copy(h.name, sizeof h.name - 1);
  h.requested_tpb_count = p.cores;
  h.tpb_per_node[0] = p.cores;
  h.feature_bits = kContainerFeature;
  h.logical_core_size = p.cores;
  std::memcpy(out.data(), &h, sizeof h);
  return out;
}

Program from_container(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Header)) damaged("is shorter than a NEFF header");
  Header h;
  std::memcpy(&h, bytes.data(), sizeof h);
  const auto data = bytes.subspan(sizeof h);
  if (h.header_size != sizeof h)
    damaged("is no NEFF: its header says " + std::to_string(h.header_size) + " bytes instead of 1024");
  if (h.package_version != kPackageVersion || h.major > kMajor)
    throw Error(Fault::unsupported, "NEFF package version " + std::to_string(h.package_version) + ", format version " +
                                        std::to_string(h.major) + "." + std::to_string(h.minor) +
                                        " is not one that trnsim reads (2, 2.0)");
  if (!(h.feature_bits & kContainerFeature))
    throw Error(Fault::unsupported,
                "this NEFF was compiled for hardware by neuronx-cc; trnsim runs what its own compiler made");
  if (h.feature_bits != kContainerFeature) {
    char text[80];
    std::snprintf(text, sizeof text, "NEFF feature bits 0x%llx are unknown: compiled by a newer trnsim",
                  static_cast<unsigned long long>(h.feature_bits & ~kContainerFeature));
    throw Error(Fault::unsupported, text);
  }
  if (h.data_size != data.size())
    damaged("is truncated: its header says " + std::to_string(h.data_size) + " bytes of data, there are " +
            std::to_string(data.size()));
  const auto hash = md5(data);
  if (!std::equal(hash.begin(), hash.end(), h.hash)) damaged("is damaged: the hash of its data differs");

  const auto members = tar_members(data);
  const auto payload =
      std::find_if(members.begin(), members.end(), [](const TarMember& m) { return m.name == kPayload; });
  if (payload == members.end()) damaged("has no Program inside");
  return deserialise(payload->content);
}

}  // namespace trn
