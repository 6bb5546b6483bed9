// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/max_chunk.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cardan/mcap/compression.hpp"

namespace cardan::apps {

void add_max_chunk(CLI::App* command) {
  constexpr std::uint64_t kMost = std::uint64_t{4} << 30;
  command
      ->add_option_function<std::uint64_t>(
          "--max-chunk",
          [](const std::uint64_t& bytes) {
            mcap::set_unpacked_limit(bytes);
            ::setenv("CARDAN_MAX_CHUNK", std::to_string(bytes).c_str(), 1);  // for the interpreter that it may become
          },
          "Most that a compressed chunk may hold when it is unpacked, as 2G, up to 4G (default: 512M)")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(false) & CLI::Range(std::uint64_t{1}, kMost));
}

}  // namespace cardan::apps
