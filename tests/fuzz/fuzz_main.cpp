// SPDX-License-Identifier: Apache-2.0
// One target under libFuzzer. CARDAN_FUZZ_SEEDS=FOLDER: only writes its inputs to begin with there.
#include <cstdlib>
#include <fstream>

#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  const char* folder = std::getenv("CARDAN_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  int number = 0;
  for (const std::string& seed : cardan::fuzz::targets().front().seeds()) {
    std::ofstream out(std::string(folder) + "/seed-" + std::to_string(number++), std::ios::binary);
    out.write(seed.data(), std::ssize(seed));
    if (!out.flush()) std::exit(1);
  }
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cardan::fuzz::targets().front().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
