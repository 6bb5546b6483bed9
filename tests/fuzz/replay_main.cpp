// SPDX-License-Identifier: Apache-2.0
// Feeds each target its own inputs to begin with, and those of a corpus: no fuzzing, any compiler.
//
//   fuzz_replay CORPUS [target]...        CORPUS/<target>/* are inputs
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/fuzz.hpp"

int main(int count, char** arguments) {
  namespace fs = std::filesystem;
  if (count < 2) {
    std::fprintf(stderr, "usage: fuzz_replay CORPUS [target]...\n");
    return 2;
  }
  const std::vector<std::string> wanted(arguments + 2, arguments + count);
  for (const cardan::fuzz::Target& target : cardan::fuzz::targets()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), target.name) == wanted.end()) continue;
    std::size_t inputs = 0;
    const auto run = [&](const std::string& name, const std::string& input) {
      std::printf("%s: %s\n", target.name, name.c_str());
      std::fflush(stdout);  // an input that ends the process is the last one named
      target.run(input);
      ++inputs;
    };
    for (const std::string& seed : target.seeds()) run("seed " + std::to_string(inputs), seed);
    std::vector<fs::path> files;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(fs::path(arguments[1]) / target.name, none))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
      std::ifstream in(path, std::ios::binary);
      run(path.string(), {std::istreambuf_iterator<char>(in), {}});
    }
  }
  return 0;
}
