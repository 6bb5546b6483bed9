// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/stages.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>

#include "bench/pipeline/graph.hpp"
#include "bench/transport/peer_modules.hpp"
#include "cardan/error.hpp"
#include "src/base/program_folder.hpp"

namespace cardan::bench::perception {
namespace {

struct ModuleFile {
  const char* file;
  const char* needs;
  const char* set_up;
};

const ModuleFile& module_file_of(const Chain& chain) {
  static constexpr ModuleFile kCamera{"pipeline-stages.so", "OpenCV with its tracking module",
                                      "scripts/setup.sh --for demo --for bench"};
  static constexpr ModuleFile kLidar{"pipeline-lidar.so", "PCL (libpcl-dev)", "scripts/setup.sh --for bench"};
  return &chain == &camera_chain() ? kCamera : kLidar;
}

std::filesystem::path path_of_stages(const Chain& chain) {
  return program_folder().parent_path() / "lib" / "cardan-bench" / module_file_of(chain).file;
}

const StagesModule* load_stages(const Chain& chain) {
  const auto refuse = [&](const std::string& why) {
    throw Error(
        ErrorCode::Unavailable, "the stages of the pipeline cannot be loaded: " + why,
        fmt::format("{} installs {}; then build again", module_file_of(chain).set_up, module_file_of(chain).needs));
  };
  void* const module = ::dlopen(path_of_stages(chain).c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (module == nullptr) refuse(::dlerror());
  using Get = const StagesModule* (*)();
  const auto get = reinterpret_cast<Get>(::dlsym(module, "cardan_bench_pipeline_stages"));
  if (get == nullptr) refuse(::dlerror());
  return get();
}

}  // namespace

std::vector<std::string> StageInputs::words() const {
  std::vector<std::string> all;
  for (const auto& [option, value] : {std::pair{"--camera", &camera},
                                      {"--detector", &detector},
                                      {"--lidar", &lidar},
                                      {"--from", &from},
                                      {"--topic", &topic}})
    if (!value->empty()) all.insert(all.end(), {option, *value});
  if (threads > 0) all.insert(all.end(), {"--threads", std::to_string(threads)});
  return all;
}

bool has_stages(const Chain& chain) {
  std::error_code ignored;
  return std::filesystem::exists(path_of_stages(chain), ignored);
}

std::string sentence_without_stages(const Chain& chain) {
  const ModuleFile& module = module_file_of(chain);
  return fmt::format(
      "The pipeline of --chain {} is left out: lib/cardan-bench/{}, which needs {}, is not here. To have it: {}, and "
      "build again.",
      chain.name, module.file, module.needs, module.set_up);
}

const StagesModule& stages_module(const Chain& chain) {
  static const StagesModule* const kModule = load_stages(chain);  // a process has one chain
  return *kModule;
}

int play_stage(int area_fd, std::uint32_t role, const Chain& chain, const StageInputs& inputs) {
  try {
    const Area stages(area_fd);
    if (role >= chain.stages.size())
      throw Error(ErrorCode::InvalidArgument, fmt::format("the pipeline has no role {}", role),
                  "start it without --role-index");
    try {
      for (const Area& link : open_links(stages, chain, role))
        load_module_of(bench::name_of(link.header().contender.peer));
      stages_module(chain).play(stages, role, inputs);
      return 0;
    } catch (const std::exception& e) {
      stages.set_error(role, fmt::format("{}: {}", chain.stages[role], e.what()));
      return 1;
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "cardan bench pipeline: {}\n", e.what());
    return 2;
  }
}

}  // namespace cardan::bench::perception
