// SPDX-License-Identifier: Apache-2.0
// `cardan schema`: the JSON Schemas of Cardan's files, for editors and other tools.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

#include "apps/command.hpp"
#include "apps/schema/schema_file.hpp"
#include "apps/terminal/output.hpp"
#include "src/base/program_folder.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kSchemaExamples = R"(Examples:
  cardan schema                                       the schema of a configuration of `cardan run`
  cardan schema bridge                                the schema of a bridge's rules
  cardan schema --path                                where it is, for the "$schema" of a file

An editor that knows JSON Schema then explains each field, completes names, and underlines what is wrong. `cardan new`
writes the path into the files that it makes. `cardan check` finds more: it also asks the components.)";

struct SchemaOptions {
  std::string kind = "run";
  bool path = false;
};

int print_schema(const SchemaOptions& o) {
  const std::string name = o.kind == "bridge" ? "bridge.schema.json" : "cardan.schema.json";
  const std::string path = schema_file(name);
  if (path.empty()) {
    warn(fmt::format("{} is not next to this program — install Cardan with its files in share/cardan", name));
    return kFailed;
  }
  if (o.path) return emit(path + "\n") ? kOk : kFailed;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad() || text.empty()) {
    warn(fmt::format("{} cannot be read — check its permissions", path));
    return kFailed;
  }
  return emit(text) ? kOk : kFailed;
}

void add_schema(CLI::App& app) {
  auto* const command = app.add_subcommand("schema", "Print the JSON Schema of a configuration or of a bridge's rules");
  command->footer(kSchemaExamples);
  auto o = std::make_shared<SchemaOptions>();
  command->add_option("kind", o->kind, "run or bridge (default: run)")->check(CLI::IsMember({"run", "bridge"}));
  command->add_flag("--path", o->path, "Print where the schema is instead");
  command->callback([o] {
    if (const int code = print_schema(*o); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kSchemaCommand{145, add_schema};

}  // namespace

std::string schema_file(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path here = program_folder();
  // Installed, and in a build folder of the sources (build/release/bin).
  for (const char* const folder : {"../share/cardan", "../../../src/config", "../../../src/bridge"}) {
    const fs::path path = (here / folder / name).lexically_normal();
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  return {};
}

}  // namespace cardan::apps
