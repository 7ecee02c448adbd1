#pragma once
#include <nrt/nrt_experimental.h>
#include <nrt/nrt_sim.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "isa/container.h"
#include "tests/runtime/programs.h"

namespace trn::test {

// This process's own simulated machine: tests may run next to each other and next to real work.
class OwnMachine {
 public:
  static void use() { static const OwnMachine machine; }

 private:
  OwnMachine() : path_((std::filesystem::temp_directory_path() / "trnsim-test-XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw std::runtime_error("no temporary directory");
    setenv("TRNSIM_RUNTIME_DIR", path_.c_str(), 1);
    setenv("NEURON_RT_LOG_LEVEL", "OFF", 1);
  }
  ~OwnMachine() { std::filesystem::remove_all(path_); }
  std::string path_;
};

// Environment variables for a scope.
class Environment {
 public:
  using Variable = std::pair<std::string, std::string>;
  Environment(std::initializer_list<Variable> v) : variables_(v) {
    OwnMachine::use();
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<Variable> variables_;
};

// The runtime open for a scope.
class Runtime {
 public:
  Runtime(std::initializer_list<Environment::Variable> v = {}) : environment_(v) {
    REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
  }
  ~Runtime() {
    nrt_close();
    nrt_sim_set_mode(NRT_SIM_MODE_BOTH);
  }

 private:
  Environment environment_;
};

inline nrt_tensor_t* tensor(size_t bytes, int vnc = 0, const char* name = nullptr) {
  nrt_tensor_t* t = nullptr;
  REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, vnc, bytes, name, &t) == NRT_SUCCESS);
  return t;
}

template <class T>
nrt_tensor_t* tensor_of(const std::vector<T>& values, int vnc = 0) {
  nrt_tensor_t* t = tensor(values.size() * sizeof(T), vnc);
  REQUIRE(nrt_tensor_write(t, values.data(), 0, values.size() * sizeof(T)) == NRT_SUCCESS);
  return t;
}

inline std::vector<float> floats(nrt_tensor_t* t) {
  std::vector<float> values(nrt_tensor_get_size(t) / sizeof(float));
  REQUIRE(nrt_tensor_read(t, values.data(), 0, values.size() * sizeof(float)) == NRT_SUCCESS);
  return values;
}

inline nrt_model_t* load(const Program& p, int vnc = 0) {
  const std::vector<std::byte> bytes = to_container(p);
  nrt_model_t* m = nullptr;
  INFO(nrt_sim_last_error());
  const NRT_STATUS status = nrt_load(bytes.data(), bytes.size(), vnc, -1, &m);
  INFO(nrt_sim_last_error());
  REQUIRE(status == NRT_SUCCESS);
  return m;
}

inline nrt_tensor_set_t* set_of(std::initializer_list<std::pair<const char*, nrt_tensor_t*>> tensors) {
  nrt_tensor_set_t* s = nullptr;
  REQUIRE(nrt_allocate_tensor_set(&s) == NRT_SUCCESS);
  for (const auto& [name, t] : tensors) REQUIRE(nrt_add_tensor_to_tensor_set(s, name, t) == NRT_SUCCESS);
  return s;
}

inline std::string last_error() { return nrt_sim_last_error(); }

inline double core_time(uint32_t vnc = 0) {
  double ns = -1;
  REQUIRE(nrt_sim_core_time(vnc, &ns) == NRT_SUCCESS);
  return ns;
}

inline double duration(nrt_model_t* m) {
  double ns = -1;
  REQUIRE(nrt_sim_model_duration(m, &ns) == NRT_SUCCESS);
  return ns;
}

// a, b and c of add_program() with a = 0,1,2..., b = 1000.
struct Sum {
  nrt_model_t* model;
  nrt_tensor_t *a, *b, *c;
  nrt_tensor_set_t *in, *out;
  static constexpr size_t kElements = 128 * 16;

  explicit Sum(int vnc = 0) : model(load(add_program(), vnc)) {
    std::vector<float> x(kElements), y(kElements, 1000.f);
    for (size_t i = 0; i < kElements; ++i) x[i] = static_cast<float>(i);
    a = tensor_of(x, vnc);
    b = tensor_of(y, vnc);
    c = tensor(kElements * 4, vnc);
    in = set_of({{"a", a}, {"b", b}});
    out = set_of({{"c", c}});
  }
  bool is_right() const {
    const std::vector<float> values = floats(c);
    for (size_t i = 0; i < kElements; ++i)
      if (values[i] != static_cast<float>(i) + 1000.f) return false;
    return true;
  }
};

// y = table[index] with an index that is out of range.
struct WrongGather {
  nrt_model_t* model = load(gather_program());
  nrt_tensor_t* table = tensor_of(std::vector<float>(32, 1.f));
  nrt_tensor_t* index = tensor_of(std::vector<int32_t>(16, 8));
  nrt_tensor_t* y = tensor(16 * 4 * 4);
  nrt_tensor_set_t* in = set_of({{"table", table}, {"index", index}});
  nrt_tensor_set_t* out = set_of({{"y", y}});
};

}  // namespace trn::test
