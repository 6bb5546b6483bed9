// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/peer_modules.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "bench/transport/options.hpp"
#include "bench/transport/peers/peer.hpp"
#include "cardan/error.hpp"
#include "src/base/program_folder.hpp"

namespace cardan::bench {
namespace {

std::string module_of(std::string_view peer) { return std::string(peer.substr(0, peer.find('-'))); }

std::filesystem::path file_of(const std::string& module) {
  return program_folder().parent_path() / "lib" / "cardan-bench" / (module + ".so");
}

/// Empty: its peers have registered themselves.
std::string load(const std::filesystem::path& file) {
  // Never closed: its peers stay in the list.
  return ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr ? std::string() : std::string(::dlerror());
}

}  // namespace

const std::vector<KnownModule>& known_modules() {
  static const std::vector<KnownModule> kModules = [] {
    std::vector<KnownModule> all;
    for (const std::string& entry : split(CARDAN_BENCH_MODULES, ';')) {  // name:packages:version
      const std::vector<std::string> words = split(entry, ':');
      if (words.size() < 2) continue;
      all.push_back({words[0], words[1], words.size() > 2 ? words[2] : std::string()});
    }
    return all;
  }();
  return kModules;
}

std::vector<std::string> load_all_modules() {
  std::vector<std::string> failures;
  for (const KnownModule& module : known_modules()) {
    const auto file = file_of(module.name);
    if (!std::filesystem::exists(file)) continue;
    if (const std::string why = load(file); !why.empty())
      failures.push_back(fmt::format("{} is left out: {}", module.name, why));
  }
  return failures;
}

void load_module_of(std::string_view peer) {
  if (find_peer(peer) != nullptr) return;
  const std::string why = load(file_of(module_of(peer)));
  if (!why.empty() || find_peer(peer) == nullptr)
    throw Error(ErrorCode::Unavailable, fmt::format("unknown peer '{}'{}{}", peer, why.empty() ? "" : ": ", why),
                module_remedy(peer));
}

std::string module_version(std::string_view peer) {
  for (const KnownModule& module : known_modules())
    if (module.name == module_of(peer)) return module.version;
  return {};
}

std::string module_remedy(std::string_view peer) {
  for (const KnownModule& module : known_modules())
    if (module.name == module_of(peer)) return fmt::format("make bench-peers builds it ({})", module.packages);
  return {};
}

}  // namespace cardan::bench
