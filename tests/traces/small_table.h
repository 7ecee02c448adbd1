#pragma once
#include <string>
#include <string_view>

namespace trn::test {

inline constexpr std::string_view kHeader =
    "timestamp,duration,label,opcode,operands,subgraph,pc,instruction_type,activation_fn,compiler_pc\n";

// A load, two copies on two engines that wait for it and for each other, a store; after one row of a preamble. Copies
// of 512 fp32 columns out of PSUM take 512 / 1.2 + 158.5 ns on Scalar and 512 / 0.96 + 157.5 ns on Vector (trn2.md
// sections 3 and 11).
inline std::string small_table() {
  return std::string(kHeader) +
         "10,5,Sync,NOP,cycle=1,sg00,1,,,\n"
         "1000,520,Sync,DMA_DIRECT2D,\"semaphore=8 sem_increment=16 src_elem_size=512 dst_elem_size=512 "
         "src_pattern=[512,1][128,1] dst_pattern=[262144,1][128,1] src_addr_imm=0x8005c03c0000 "
         "dst_addr_imm=0x802000037e00 compute_op=NONE\",sg00,2,REGULAR,,\n"
         "3200,585,Scalar,COPY,\"S[8] (qSyncDynamicHW)>=16 S[4] (Scalar)++@complete "
         "src=fp32@0x2000000[1,1,1,1][512,1,1,1] dst=fp32@0x4000[1,1,1,1][512,1,1,1] channels=128\",sg00,7,REGULAR,,\n"
         "3820,691,Vector,COPY,\"S[4] (Scalar)>=1 S[6] (Vector)++@complete src=fp32@0x2000800[1,1,1,1][512,1,1,1] "
         "dst=fp32@0x4800[1,1,1,1][512,1,1,1] channels=128\",sg00,9,REGULAR,,\n";
}

}  // namespace trn::test
