#include "traces/replay/replay.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "memory/error.h"
#include "tests/traces/small_table.h"
#include "traces/replay/opcodes.h"
#include "traces/replay/text_file.h"
#include "traces/replay/transfers.h"

using namespace trn;
using namespace trn::replay;
using trn::test::kHeader;
using trn::test::small_table;

namespace {

Profile small() {
  Profile p;
  p.name = "small";
  p.instructions = parse_instructions(small_table(), "table");
  return p;
}

const Row& row_of(const Profile& p, const Result& r, std::string_view label) {
  for (const Row& x : r.rows)
    if (p.instructions[x.row].label == label) return x;
  throw Error(Fault::internal, "no row of this engine");
}

struct File {
  std::string path;
  explicit File(const std::string& name) : path((std::filesystem::temp_directory_path() / name).string()) {}
  ~File() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("the body starts at its first row and every later time is the simulator's") {
  const Profile p = small();
  const Result r = trn::replay::replay(p, trn2());
  REQUIRE(r.rows.size() == 3);
  CHECK(r.origin == 1000);
  CHECK(r.rows[0].start == Approx(1000));
  CHECK(r.rows[0].done > r.rows[0].end);
  const Row &scalar = row_of(p, r, "Scalar"), &vector = row_of(p, r, "Vector");
  CHECK(scalar.start - r.rows[0].done == Approx(23).margin(0.3));  // DMA completion to consumer: no post time
  CHECK(scalar.end - scalar.start == Approx(512 / 1.2 + 158).margin(1.5));
  CHECK(vector.start - scalar.end == Approx(12 + 23).margin(0.5));
  CHECK(vector.end - vector.start == Approx(512 / 0.96 + 157.5).margin(1.5));
  CHECK(r.measured_makespan == 3820 + 691 - 1000);
}

TEST_CASE("moving the measured times of later rows changes no prediction") {
  Profile p = small();
  const Result before = trn::replay::replay(p, trn2());
  for (InstructionRow& in : p.instructions)
    if (in.label == "Scalar" || in.label == "Vector") in.start += 12345;
  const Result after = trn::replay::replay(p, trn2());
  for (size_t i = 0; i < before.rows.size(); ++i) CHECK(before.rows[i].start == after.rows[i].start);
}

TEST_CASE("an unknown opcode has a cost and is said to be unmodelled") {
  std::string table = small_table();
  const size_t at = table.find("Vector,COPY");
  table.replace(at, 11, "Vector,WARP");
  Profile p;
  p.instructions = parse_instructions(table, "table");
  const Result r = trn::replay::replay(p, trn2());
  CHECK(row_of(p, r, "Vector").unmodelled);
  REQUIRE(r.notes.size() == 1);
  CHECK_THAT(r.notes[0], Catch::Contains("WARP") && Catch::Contains("unmodelled"));
}

TEST_CASE("a semaphore that nobody raises does not hang the replay") {
  std::string table = small_table();
  const size_t at = table.find("S[4] (Scalar)>=1");
  table.replace(at, 16, "S[9] (Tensor)>=1");
  Profile p;
  p.instructions = parse_instructions(table, "table");
  CHECK(trn::replay::replay(p, trn2()).notes.size() == 1);  // the wait is dropped
  p.semaphores = {{5000, "sg00", "S[9] (Tensor)", 1}};
  const Result r = trn::replay::replay(p, trn2());
  CHECK(row_of(p, r, "Vector").start == Approx(5000 + 23).margin(0.5));
}

TEST_CASE("where the throttle's phase is unknown the prediction is an interval") {
  std::string table(kHeader);
  for (int i = 0; i < 40; ++i)
    table += std::to_string(100 + 427 * i) +
             ",630,TensorMatrix,MATMUL,\"S[5] (Tensor)++@complete acc_flags=3 "
             "src=bfloat16@0x37600[1,0,0][512,1,1] dst=0x2000000[1,0,0][512,1,1] 128*128\",sg00," +
             std::to_string(i) + ",REGULAR,,\n";
  Profile p;
  p.instructions = parse_instructions(table, "table");
  const Result unknown = trn::replay::replay(p, trn2());
  CHECK_FALSE(unknown.phase_known);
  CHECK(unknown.least_makespan < unknown.most_makespan);
  // A window of 3413 ns at half rate streams 3413 / 427 products; the rate rises at the end of the first busy one.
  CHECK(unknown.most_makespan - unknown.least_makespan == Approx(3413.0 / 2).epsilon(0.3));
  p.throttle = {{3000, 100000, 8, 8, "sg00"}};
  const Result known = trn::replay::replay(p, trn2());
  CHECK(known.phase_known);
  CHECK(known.rows[1].start - known.rows[0].start == Approx(427).margin(60));  // the first has a burst
  CHECK(known.rows[20].start - known.rows[19].start == Approx(216).margin(2));
}

TEST_CASE("predictions are written in the profile's own order") {
  const Profile p = small();
  const auto list = nlohmann::json::parse(predictions_json(p, trn::replay::replay(p, trn2())));
  REQUIRE(list.size() == 3);
  CHECK(list[0]["opcode"] == "DMA_DIRECT2D");
  CHECK(list[0].contains("done_ns"));
  CHECK(list[1]["engine"] == "Scalar");
  CHECK_FALSE(list[1].contains("done_ns"));
  for (const char* key : {"pc", "subgraph", "engine", "opcode", "start_ns", "end_ns"}) CHECK(list[2].contains(key));
}

TEST_CASE("operands are read as the profiler writes them") {
  const Operands o = parse_operands(
      "S[26] (qGpSimdDynamic)>=16 $S[2]==8 S[5] (Tensor)++@complete $S[2]=0@complete $S[3]+=4@complete op=MAX EXP "
      "128*64");
  REQUIRE(o.waits.size() == 2);
  CHECK((o.waits[0].semaphore == 26 && o.waits[0].updater == "qGpSimdDynamic" && o.waits[0].value == 16));
  CHECK(o.waits[1].compare == Compare::equal);
  REQUIRE(o.updates.size() == 3);
  CHECK((o.updates[1].change == Change::set && o.updates[2].value == 4));
  CHECK(o.field("op") == "MAX");
  CHECK(o.words.size() == 2);
  CHECK_THROWS_WITH(parse_operands("S[x] (Tensor)>=1"), Catch::Contains("semaphore operand"));
  const auto a = parse_access("bfloat16@0x2000100[1,8,0,0][16,4,1,1]", 128);
  REQUIRE(a);
  CHECK((a->space == Space::psum && a->offset == 256 && a->free_elements() == 64 && a->dtype == Dtype::bfloat16));
  CHECK_FALSE(parse_access("nonsense", 128));
}

TEST_CASE("a transfer is what its patterns say") {
  const auto load = transfer_of(
      parse_operands("src_elem_size=1024 dst_elem_size=1024 src_pattern=[1024,1][128,1] dst_pattern=[262144,1][128,1] "
                     "src_table_offset_imm=0x0 dst_addr_imm=0x802000037200"),
      true);
  REQUIRE(load);
  CHECK((load->reads_hbm && !load->writes_hbm && load->software));
  CHECK((load->rows == 128 && load->chunks == 1 && load->chunk_bytes == 1024 && load->neighbours == 128));
  const auto store = transfer_of(
      parse_operands(
          "src_elem_size=512 dst_elem_size=256 src_pattern=[512,262144][4,128] dst_pattern=[32768,256][4,128] "
          "src_addr_imm=0x802000008850 dst_table_offset_imm=0x0 in_dtype=fp32 out_dtype=bfloat16"),
      true);
  REQUIRE(store);
  CHECK((store->writes_hbm && store->cast && store->rows == 128 && store->chunks == 4 && store->chunk_bytes == 512));
  CHECK_FALSE(transfer_of(parse_operands("src_elem_size=4"), false));
}

TEST_CASE("a static ring's transfer belongs to the doorbell before it and the semaphore after it") {
  Profile p;
  p.instructions = parse_instructions(
      std::string(kHeader) +
          "100,58,Sync,WRITE,\"data=0x2 size=4 dst=0x80100252f038\",sg00,1,REGULAR,,\n"
          "2500,691,Vector,COPY,\"S[24] (qSyncIO)>=2 src=fp32@0x4000[1,1][512,1] dst=fp32@0x8000[1,1][512,1] "
          "channels=128\",sg00,2,REGULAR,,\n",
      "table");
  for (int engine : {64, 65}) {
    p.packets.push_back({1500, 158, "sg00", "io", engine, 5, 4096});
    p.packets.push_back({1656, 9, "sg00", "io", engine, 5, 4});
  }
  p.semaphores = {{2000, "sg00", "S[24] (qSyncIO)", 1}, {2012, "sg00", "S[24] (qSyncIO)", 2}};
  const Result r = trn::replay::replay(p, trn2());
  CHECK(r.notes.empty());
  CHECK(r.rows[0].dma);
  CHECK(r.rows[0].end - r.rows[0].start == Approx(trn2().doorbell_sync_ns).margin(0.3));
  CHECK(row_of(p, r, "Vector").start == Approx(r.rows[0].done + 23).margin(0.5));
}

TEST_CASE("the JSON export of the profiler is read with its own key names") {
  const Profile p = parse_export(
      R"({"instruction": [{"start_ts": 5, "end_ts": "25", "engine": "Vector", "opcode": "COPY", "operands": "", "pc": 3,
          "pcore_idx": 0, "instruction_type": "REGULAR"}],
         "throttle": [{"timestamp": 7, "duration": 9, "k": 4, "n": 8}], "dma": [], "semaphore_update": []})",
      "export");
  REQUIRE(p.instructions.size() == 1);
  CHECK((p.instructions[0].duration == 20 && p.instructions[0].label == "Vector" && p.instructions[0].pc == 3));
  CHECK(p.throttle.at(0).k == 4);
}

TEST_CASE("damaged tables are refused with their place") {
  const auto of = [](const std::string& text) { return parse_instructions(text, "t.csv"); };
  CHECK_THROWS_WITH(of(""), Catch::Contains("no header"));
  CHECK_THROWS_WITH(of("timestamp,opcode\n"), Catch::Contains("no column 'duration'"));
  CHECK_THROWS_WITH(of(std::string(kHeader) + "1,2,Sync\n"),
                    Catch::Contains("3 fields, not 10") && Catch::Contains("line 2"));
  CHECK_THROWS_WITH(of(std::string(kHeader) + "x,2,Sync,NOP,,sg00,1,,,\n"),
                    Catch::Contains("'x' in column 'timestamp'"));
  CHECK_THROWS_WITH(of(std::string(kHeader) + "1,2,Sync,NOP,\"open,sg00,1,,,\n"), Catch::Contains("does not end"));
  CHECK_THROWS_WITH(of(std::string(kHeader) + "-1,2,Sync,NOP,,sg00,1,,,\n"), Catch::Contains("negative"));
  CHECK_THROWS_WITH(parse_export("[1", "e.json"), Catch::Contains("no JSON object"));
  CHECK_THROWS_WITH(parse_export(std::string(5000, '['), "e.json"), Catch::Contains("nests"));
  Profile empty;
  CHECK_THROWS_WITH(trn::replay::replay(empty, trn2()), Catch::Contains("no body"));
  Profile odd = small();
  odd.instructions[2].label = "Warp";
  CHECK_THROWS_WITH(trn::replay::replay(odd, trn2()), Catch::Contains("no engine"));
}

TEST_CASE("compressed tables are read, damaged and oversized ones refused") {
  const File file("trnsim_replay_test.instructions.csv.gz");
  const std::string text = small_table();
  gzFile out = gzopen(file.path.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  CHECK(read_text(file.path) == text);
  CHECK(load_profile(file.path).instructions.size() == 4);
  CHECK_THROWS_WITH(read_text(file.path, 10), Catch::Contains("more than"));
  std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) - 12);
  CHECK_THROWS_WITH(read_text(file.path), Catch::Contains("damaged or cut off"));
  CHECK_THROWS_WITH(load_profile("/nowhere.instructions.csv"), Catch::Contains("no such file"));
  CHECK_THROWS_WITH(load_profile("/nowhere.txt"), Catch::Contains("NAME.instructions.csv"));
}
