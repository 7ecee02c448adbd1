#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trn {

// The ustar subset that a NEFF needs: regular files, names below 100 characters, no times, so the same members give the
// same bytes.
void tar_append(std::vector<std::byte>& archive, std::string_view name, std::span<const std::byte> content);
void tar_finish(std::vector<std::byte>& archive);

struct TarMember {
  std::string_view name;
  std::span<const std::byte> content;
};
// Views into `archive`. Throws trn::Error(illegal) if it is damaged.
std::vector<TarMember> tar_members(std::span<const std::byte> archive);

}  // namespace trn
