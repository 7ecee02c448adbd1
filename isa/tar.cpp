#include "isa/tar.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "memory/error.h"

namespace trn {
namespace {

constexpr size_t kBlock = 512;

// POSIX ustar header block.
struct Header {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2],
      rest[247];
};
static_assert(sizeof(Header) == kBlock);

// Sum of the block's bytes with the checksum field read as spaces.
unsigned checksum(const Header& h) {
  unsigned char raw[kBlock];
  std::memcpy(raw, &h, kBlock);
  std::memset(raw + offsetof(Header, checksum), ' ', sizeof h.checksum);
  unsigned sum = 0;
  for (const unsigned char c : raw) sum += c;
  return sum;
}

// Octal digits up to a space or a zero byte; false if there is anything else or nothing.
bool octal(const char* text, size_t length, uint64_t& value) {
  value = 0;
  size_t i = 0;
  for (; i < length && text[i] >= '0' && text[i] <= '7'; ++i) value = value * 8 + static_cast<uint64_t>(text[i] - '0');
  return i > 0 && (i == length || text[i] == ' ' || text[i] == 0);
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

[[noreturn]] void damaged(const char* how) {
  throw Error(Fault::illegal, std::string("the executable's archive ") + how);
}

}  // namespace

void tar_append(std::vector<std::byte>& archive, std::string_view name, std::span<const std::byte> content) {
  if (name.size() >= sizeof(Header::name))
    throw Error(Fault::internal, "archive member names have fewer than 100 characters", std::string(name));
  Header h{};
  std::copy(name.begin(), name.end(), h.name);
  std::snprintf(h.mode, sizeof h.mode, "%07o", 0644u);
  std::snprintf(h.uid, sizeof h.uid, "%07o", 0u);
  std::snprintf(h.gid, sizeof h.gid, "%07o", 0u);
  std::snprintf(h.size, sizeof h.size, "%011llo", static_cast<unsigned long long>(content.size()));
  std::snprintf(h.mtime, sizeof h.mtime, "%011o", 0u);
  h.type = '0';
  std::memcpy(h.magic, "ustar", 6);
  std::memcpy(h.version, "00", 2);
  std::snprintf(h.checksum, sizeof h.checksum, "%06o", checksum(h));
  h.checksum[7] = ' ';
  const auto* raw = reinterpret_cast<const std::byte*>(&h);
  archive.insert(archive.end(), raw, raw + kBlock);
  archive.insert(archive.end(), content.begin(), content.end());
  archive.resize((archive.size() + kBlock - 1) / kBlock * kBlock);
}

void tar_finish(std::vector<std::byte>& archive) { archive.resize(archive.size() + 2 * kBlock); }

std::vector<TarMember> tar_members(std::span<const std::byte> archive) {
  std::vector<TarMember> members;
  for (;;) {
    if (archive.size() < kBlock) damaged("ends too early");
    const auto block = archive.first(kBlock);
    archive = archive.subspan(kBlock);
    if (all_zero(block)) {
      if (archive.size() != kBlock || !all_zero(archive)) damaged("does not end in two empty blocks");
      return members;
    }
    Header h;
    std::memcpy(&h, block.data(), kBlock);
    uint64_t sum = 0, size = 0;
    if (!octal(h.checksum, sizeof h.checksum, sum) || sum != checksum(h))
      damaged("has a member header whose checksum differs");
    if (!octal(h.size, sizeof h.size, size) || size > archive.size())
      damaged("has a member that is longer than the archive");
    const size_t padded = (size + kBlock - 1) / kBlock * kBlock;
    if (padded > archive.size()) damaged("ends inside a member");
    const auto* name = reinterpret_cast<const char*>(block.data());
    members.push_back({{name, strnlen(name, sizeof h.name)}, archive.first(size)});
    archive = archive.subspan(padded);
  }
}

}  // namespace trn
