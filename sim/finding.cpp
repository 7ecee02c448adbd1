#include "sim/finding.h"

#include <array>

#include "isa/assembly.h"
#include "isa/dispatch.h"

namespace trn {
namespace {

struct KindRow {
  std::string_view name, page;
};

constexpr std::string_view kArch = "nki/guides/architecture/trainium_inferentia2_arch";
constexpr std::string_view kTrn2 = "nki/guides/architecture/trainium2_arch";
constexpr std::string_view kMemory = "nki/get-started/about/memory-hierarchy-overview";
constexpr std::string_view kDma = "nki/get-started/about/nki-dma-overview";
constexpr std::string_view kMatmul = "nki.isa.nc_matmul";
constexpr std::string_view kTrouble = "neuron-runtime/nrt-troubleshoot";
constexpr std::string_view kOurs = "trnsim: isa/program.h";

// By RuleKind.
constexpr std::array<KindRow, kRuleKinds> kKinds{{{"structure", kOurs},
                                                  {"operand", "the instruction's page of nki.isa"},
                                                  {"engine", "the instruction's page of nki.isa"},
                                                  {"dtype", "the instruction's page of nki.isa"},
                                                  {"shape", "the instruction's page of nki.isa"},
                                                  {"out of bounds", kMemory},
                                                  {"partition start", kArch},
                                                  {"PSUM bank", kArch},
                                                  {"semaphore overflow", kArch},
                                                  {"semaphore underflow", kArch},
                                                  {"deadlock", kArch},
                                                  {"order", kOurs},
                                                  {"over capacity", kMemory},
                                                  {"overlap", kMemory},
                                                  {"race", kArch},
                                                  {"uninitialised read", kMemory},
                                                  {"PSUM accumulation group", kMatmul},
                                                  {"PSUM bank conflict", kTrn2},
                                                  {"queue overflow", kDma},
                                                  {"numerical error", kTrouble},
                                                  {"index out of bounds", kTrouble}}};

std::string labelled(std::string_view label, const Program& p, uint32_t instruction) {
  const Instruction& i = p.instructions[instruction];
  std::string text = std::string(label) + " #" + std::to_string(instruction) + " ";
  const bool readable = i.card < isa().size() && i.args + (row(i).args_bytes + 7) / 8 <= p.words.size() &&
                        row(i).damaged(p.raw_args(i)).empty() && static_cast<int>(i.engine) < kEngines &&
                        size_t{i.first_wait} + i.waits <= p.waits.size();
  text += readable ? to_assembly(p, instruction) : "(its fields cannot be read)";
  if (i.source < p.sources.size() && !p.sources[i.source].empty()) text += "  ; " + p.sources[i.source];
  return text;
}

// " tensor_copy (vector)"
std::string name_of(const Program& p, const Instruction& in) {
  std::string text = " " + std::string(row(in).name) + " (";
  if (p.cores > 1) text += "core " + std::to_string(in.core) + ", ";
  return text + (row(in).is_dma ? "DMA queue " + std::to_string(in.queue) : std::string(name(in.engine))) + ")";
}

std::vector<std::string> details(const Finding& f, const Program& p) {
  std::vector<std::string> lines;
  if (f.other != Finding::kNobody) lines.push_back(labelled("earlier", p, f.other));
  if (f.instruction != Finding::kNobody)
    lines.push_back(labelled(f.other != Finding::kNobody ? "later" : "at", p, f.instruction));
  for (const Sentence& note : f.notes) lines.push_back(note.in(p));
  lines.push_back("see " + std::string(documentation(f.kind)));
  return lines;
}

}  // namespace

std::string_view name(RuleKind k) { return kKinds[static_cast<size_t>(k)].name; }
std::string_view documentation(RuleKind k) { return kKinds[static_cast<size_t>(k)].page; }

Sentence who(uint32_t instruction) { return {instruction, true}; }
Sentence mention(uint32_t instruction) { return {instruction, false}; }

Sentence operator+(Sentence a, const Sentence& b) {
  for (const Sentence::Mention& m : b.mentions_) a.mentions_.push_back({a.text_.size() + m.at, m.instruction, m.named});
  a.text_ += b.text_;
  return a;
}

void Sentence::renumber(std::span<const uint32_t> origin) {
  for (Mention& m : mentions_) m.instruction = origin[m.instruction];
}

std::string Sentence::in(const Program& p) const {
  std::string out;
  size_t at = 0;
  for (const Mention& m : mentions_) {
    out.append(text_, at, m.at - at);
    at = m.at;
    out += "#" + std::to_string(m.instruction);
    if (m.named) out += name_of(p, p.instructions[m.instruction]);
  }
  return out.append(text_, at);
}

void Finding::renumber(std::span<const uint32_t> origin) {
  rule.renumber(origin);
  for (Sentence& note : notes) note.renumber(origin);
  for (uint32_t* i : {&instruction, &other})
    if (*i != kNobody) *i = origin[*i];
}

std::string describe(const Access& a, const CommonBytes& c, const Program& p) {
  std::string text = "bytes " + std::to_string(c.first.begin) + ".." + std::to_string(c.first.end - 1);
  if (c.bytes > c.first.end - c.first.begin) text += " and further";
  if (!a.on_chip())
    return text + " of slot " + std::to_string(a.buffer) + " \"" + p.slots[a.buffer].name + "\" (" +
           std::to_string(c.bytes) + " bytes)";
  return text + " of " + std::string(space_name(a.space)) + " partitions " + std::to_string(c.partitions.begin) + ".." +
         std::to_string(c.partitions.end - 1) + " (" + std::to_string(c.bytes) + " of each)";
}

std::string explain(const Finding& f, const Program& p) {
  std::string text = (f.advice ? "advice, " : "") + std::string(name(f.kind)) + ": " + f.rule.in(p) + '\n';
  for (const std::string& line : details(f, p)) text += "  " + line + '\n';
  return text;
}

Error as_error(const Finding& f, const Program& p) {
  std::string context = p.name;
  for (const std::string& line : details(f, p)) context += "; " + line;
  return {f.fault, std::string(name(f.kind)) + ": " + f.rule.in(p), context};
}

}  // namespace trn
