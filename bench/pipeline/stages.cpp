// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/stages.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "bench/pipeline/graph.hpp"
#include "bench/transport/peer_modules.hpp"
#include "cardan/base/error.hpp"

namespace cardan::bench::perception {
namespace {

std::filesystem::path file_of_stages() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "lib" / "cardan-bench" / "pipeline-stages.so";
}

const StagesModule* load_stages() {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::Unavailable, "the stages of the pipeline cannot be loaded: " + why,
                "scripts/setup.sh --for demo installs OpenCV; then build again");
  };
  void* const module = ::dlopen(file_of_stages().c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (module == nullptr) refuse(::dlerror());
  using Get = const StagesModule* (*)();
  const auto get = reinterpret_cast<Get>(::dlsym(module, "cardan_bench_pipeline_stages"));
  if (get == nullptr) refuse(::dlerror());
  return get();
}

}  // namespace

bool has_stages() {
  std::error_code ignored;
  return std::filesystem::exists(file_of_stages(), ignored);
}

const StagesModule& stages_module() {
  static const StagesModule* const kModule = load_stages();
  return *kModule;
}

int play_stage(int area_fd, std::uint32_t role, const StageInputs& inputs) {
  try {
    const Area stages(area_fd);
    if (role >= kStages.size())
      throw Error(ErrorCode::InvalidArgument, fmt::format("the pipeline has no role {}", role),
                  "start it without --role-index");
    try {
      for (const Area& link : open_links(stages, kStages[role]))
        load_module_of(bench::name_of(link.header().contender.peer));
      stages_module().play(stages, role, inputs);
      return 0;
    } catch (const std::exception& e) {
      stages.set_error(role, fmt::format("{}: {}", name_of(kStages[role]), e.what()));
      return 1;
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "cardan bench pipeline: {}\n", e.what());
    return 2;
  }
}

}  // namespace cardan::bench::perception
