#include "backend/runtime/log.h"

#include <strings.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace trn::runtime {
namespace {

constexpr std::array<const char*, 6> kLevels = {"OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};
constexpr std::array<int, 6> kPriorities = {LOG_ERR, LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG};
constexpr std::array<const char*, 3> kComponents = {"NRT", "TDRV", "NMGR"};

Level level_from(const char* variable, Level otherwise) {
  const char* text = std::getenv(variable);
  if (!text) return otherwise;
  for (size_t i = 0; i < kLevels.size(); ++i)
    if (strcasecmp(text, kLevels[i]) == 0) return static_cast<Level>(i);
  if (strcasecmp(text, "WARNING") == 0) return Level::warn;
  std::fprintf(stderr, "%s=%s is none of OFF, ERROR, WARN, INFO, DEBUG, TRACE; keeping %s\n", variable, text,
               kLevels[static_cast<size_t>(otherwise)]);
  return otherwise;
}

struct Settings {
  std::array<Level, kComponents.size()> levels;
  bool syslog;
  Settings() {
    const Level all = level_from("NEURON_RT_LOG_LEVEL", Level::error);
    for (size_t i = 0; i < levels.size(); ++i)
      levels[i] = level_from((std::string("NEURON_RT_LOG_LEVEL_") + kComponents[i]).c_str(), all);
    const char* place = std::getenv("NEURON_RT_LOG_LOCATION");
    syslog = place && strcasecmp(place, "syslog") == 0;
  }
};
const Settings& settings() {
  static const Settings s;
  return s;
}

}  // namespace

bool log_enabled(Component c, Level level) { return level <= settings().levels[static_cast<size_t>(c)]; }

void log(Level level, Component c, std::string_view function, std::string_view text) {
  if (!log_enabled(c, level)) return;
  const std::string where = std::string(kComponents[static_cast<size_t>(c)]) + ":" + std::string(function);
  const auto size = static_cast<int>(text.size());
  if (settings().syslog) {
    ::syslog(LOG_USER | kPriorities[static_cast<size_t>(level)], "%s %.*s", where.c_str(), size, text.data());
    return;
  }
  timeval now;
  gettimeofday(&now, nullptr);
  tm utc;
  gmtime_r(&now.tv_sec, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%b-%d %H:%M:%S", &utc);
  // One call, so that lines of several threads and processes do not mix.
  std::fprintf(stderr, "%s.%06ld %5d:%-5ld %6s  %-43s %.*s\n", stamp, static_cast<long>(now.tv_usec),
               static_cast<int>(getpid()), static_cast<long>(syscall(SYS_gettid)), kLevels[static_cast<size_t>(level)],
               where.c_str(), size, text.data());
}

}  // namespace trn::runtime
