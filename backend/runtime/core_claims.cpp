#include "backend/runtime/core_claims.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "backend/runtime/status.h"

namespace trn::runtime {
namespace {

std::string directory() {
  if (const char* own = std::getenv("TRNSIM_RUNTIME_DIR"); own && *own) return own;
  if (const char* run = std::getenv("XDG_RUNTIME_DIR"); run && *run && access(run, W_OK) == 0)
    return std::string(run) + "/trnsim";
  return "/tmp/trnsim-" + std::to_string(getuid());
}

// A directory in /tmp that somebody else made is not ours to trust.
std::string usable_directory() {
  const std::string path = directory();
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    fail(NRT_FAILURE, "cannot make " + path + ": " + std::strerror(errno));
  struct stat s;
  if (stat(path.c_str(), &s) != 0 || !S_ISDIR(s.st_mode) || s.st_uid != getuid())
    fail(NRT_FAILURE, path + " is not a directory of this user; set TRNSIM_RUNTIME_DIR");
  return path;
}

int open_file(int core, int flags) {
  const std::string path = usable_directory() + "/core" + std::to_string(core);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (file < 0 && (flags & O_CREAT)) fail(NRT_FAILURE, "cannot open " + path + ": " + std::strerror(errno));
  return file;
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// 0 if nobody else holds it.
pid_t holder(int file) {
  struct flock lock = whole_file();
  if (fcntl(file, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid > 0 ? lock.l_pid : -1;
}

}  // namespace

pid_t CoreClaims::claim(int physical_core) {
  const int file = open_file(physical_core, O_CREAT);
  struct flock lock = whole_file();
  if (fcntl(file, F_SETLK, &lock) == 0) {
    files_.push_back(file);
    return 0;
  }
  const pid_t owner = holder(file);
  close(file);
  return owner ? owner : -1;
}

void CoreClaims::release() { release_last(files_.size()); }

void CoreClaims::release_last(size_t n) {
  for (; n > 0; --n) {
    close(files_.back());
    files_.pop_back();
  }
}

// Closing any descriptor of a file drops this process's locks on it, so a process that holds cores must not ask; it
// knows its own.
pid_t owner_of(int physical_core) {
  const int file = open_file(physical_core, 0);
  if (file < 0) return 0;
  const pid_t owner = holder(file);
  close(file);
  return owner;
}

}  // namespace trn::runtime
