#pragma once
#include <string_view>

namespace trn::runtime {

enum class Level : unsigned char { off, error, warn, info, debug, trace };

// Component prefixes of the Neuron runtime: API, device driver, model manager.
enum class Component : unsigned char { nrt, tdrv, nmgr };

// Levels and place: NEURON_RT_LOG_LEVEL (ERROR by default), NEURON_RT_LOG_LEVEL_{NRT,TDRV,NMGR}, NEURON_RT_LOG_LOCATION
// (console or syslog), read once per process.
bool log_enabled(Component c, Level level);

// One line in the Neuron runtime's format: time pid:tid LEVEL COMPONENT:function text.
void log(Level level, Component c, std::string_view function, std::string_view text);

}  // namespace trn::runtime
