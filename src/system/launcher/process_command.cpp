// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/process_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/system/launcher/program_file.hpp"

namespace cardan::launcher {
namespace {

double seconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

}  // namespace

std::vector<std::string> record_words(const plan::Plan& plan, const config::Process& process) {
  const config::Record& record = *process.record;
  std::vector<std::string> words;
  // "--name=value": a value may begin with '-'.
  const auto option = [&](const char* name, const std::string& value) {
    words.push_back(fmt::format("{}={}", name, value));
  };
  option("--in", (std::filesystem::path(plan.folder) / record.output).lexically_normal().string());
  option("--as", process.name);
  option("--compression", record.compression);
  if (!record.causes) words.emplace_back("--no-causes");
  for (const std::string& pattern : record.exclude) option("--exclude", pattern);
  if (record.last.count() > 0) {
    option("--last", fmt::format("{}", seconds(record.last)));
    option("--after", fmt::format("{}", seconds(record.after)));
  }
  if (record.on) {
    for (const config::State state : record.on->states)
      option("--on", fmt::format("state={}:{}", plan.configuration.name, config::name_of(state)));
    for (const std::string& topic : record.on->silent)
      option("--on", fmt::format("silent={}:{}", topic, seconds(record.on->lasting) * 1e3));
    for (const std::string& topic : record.on->messages) option("--on", "message=" + topic);
  }
  // "*" as the recorder's own default, which leaves out what only recorders use.
  const bool all = std::find(record.topics.begin(), record.topics.end(), "*") != record.topics.end();
  if (!record.topics.empty() && !all) {
    words.emplace_back("--");  // patterns from here on
    words.insert(words.end(), record.topics.begin(), record.topics.end());
  }
  return words;
}

void add_command(ChildOptions& child, const plan::Plan& plan, const config::Process& process) {
  const ProgramFile file = program_file(plan.configuration, plan.folder, process);
  child.program = file.path;
  child.arguments = process.command;
  child.arguments.front() = file.path;
  child.folder = file.folder;
  child.foreign = true;
}

}  // namespace cardan::launcher
