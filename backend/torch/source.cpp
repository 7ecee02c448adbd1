#include "backend/torch/source.h"

#include <Python.h>
#include <nrt/nrt_sim.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

namespace trn::torch_backend {
namespace {

thread_local int scopes = 0;
constexpr int kFrames = 24;  // how far up the stack a line outside torch is looked for

struct Site {
  const char* op;
  const PyCodeObject* code;
  int instruction;
  bool operator==(const Site&) const = default;
};

struct SiteHash {
  size_t operator()(const Site& s) const {
    const auto mix = [](size_t h, size_t v) { return (h ^ v) * 0x9E3779B97F4A7C15ull; };
    return mix(mix(mix(0, reinterpret_cast<size_t>(s.op)), reinterpret_cast<size_t>(s.code)),
               static_cast<size_t>(s.instruction));
  }
};

// Both tables are guarded by the GIL. Code objects in them are kept alive, so that an address is never reused.
std::unordered_map<Site, uint32_t, SiteHash>& sites() {
  static auto* map = new std::unordered_map<Site, uint32_t, SiteHash>;
  return *map;
}

bool is_torch_code(PyCodeObject* code) {
  static auto* known = new std::unordered_map<const PyCodeObject*, bool>;
  if (const auto found = known->find(code); found != known->end()) return found->second;
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) PyErr_Clear();
  const bool torch = file && (std::strstr(file, "/torch/") || std::strstr(file, "/torch_neuronx/"));
  Py_INCREF(code);
  known->emplace(code, torch);
  return torch;
}

std::string line(PyCodeObject* code, int instruction) {
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) PyErr_Clear();
  return (file ? file : "<unknown>") + (':' + std::to_string(PyCode_Addr2Line(code, instruction)));
}

uint32_t intern(const char* op, PyCodeObject* code, int instruction) {
  return nrt_sim_intern((op + (' ' + line(code, instruction))).c_str());
}

// TORCH_NEURONX_ENABLE_STACK_TRACE=1: every line from the innermost outwards. Slow, and each stack is kept.
bool wants_stack() {
  static const bool wanted = [] {
    const char* value = std::getenv("TORCH_NEURONX_ENABLE_STACK_TRACE");
    return value && std::strcmp(value, "1") == 0;
  }();
  return wanted;
}

uint32_t intern_stack(const char* op, PyFrameObject* frame) {
  std::string text = op;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    text += (text == op ? " " : " < ") + line(code, PyFrame_GetLasti(frame));
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return nrt_sim_intern(text.c_str());
}

struct Position {
  PyCodeObject* code;  // a new reference; null if there is no frame
  int instruction;
};

// Takes the reference to `frame`.
Position innermost_outside_torch(PyFrameObject* frame) {
  PyCodeObject* code = nullptr;
  int instruction = 0;
  for (int depth = 0; frame && depth < kFrames; ++depth) {
    PyCodeObject* here = PyFrame_GetCode(frame);
    if (!code || !is_torch_code(here)) {
      Py_XDECREF(code);
      code = here;
      instruction = PyFrame_GetLasti(frame);
      if (!is_torch_code(here)) break;
    } else {
      Py_DECREF(here);
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return {code, instruction};
}

uint32_t op_only(const char* op) {
  thread_local std::unordered_map<const char*, uint32_t> known;
  uint32_t& id = known[op];
  if (id == 0) id = nrt_sim_intern(op);
  return id;
}

uint32_t find_source(const char* op) {
  PyThreadState* thread = PyGILState_GetThisThreadState();
  if (!thread) return op_only(op);  // not a Python thread: nobody's line

  const PyGILState_STATE gil = PyGILState_Ensure();
  PyFrameObject* frame = PyThreadState_GetFrame(thread);
  if (frame && wants_stack()) {
    const uint32_t id = intern_stack(op, frame);
    PyGILState_Release(gil);
    return id;
  }
  const auto [code, instruction] = innermost_outside_torch(frame);
  uint32_t id = 0;
  if (code) {
    const auto [site, added] = sites().try_emplace(Site{op, code, instruction}, 0);
    if (added) {
      site->second = intern(op, code, instruction);
    } else {
      Py_DECREF(code);
    }
    id = site->second;
  }
  PyGILState_Release(gil);
  return code ? id : op_only(op);
}

}  // namespace

std::string current_line() {
  PyThreadState* thread = PyGILState_GetThisThreadState();
  if (!thread) return {};
  const PyGILState_STATE gil = PyGILState_Ensure();
  std::string text;
  if (const auto [code, instruction] = innermost_outside_torch(PyThreadState_GetFrame(thread)); code) {
    text = line(code, instruction);
    Py_DECREF(code);
  }
  PyGILState_Release(gil);
  return text;
}

void set_source(const char* op) {
  if (scopes == 0) nrt_sim_set_source(find_source(op));
}

SourceScope::SourceScope(const char* op) {
  set_source(op);
  ++scopes;
}

SourceScope::~SourceScope() { --scopes; }

}  // namespace trn::torch_backend
