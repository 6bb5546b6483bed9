// SPDX-License-Identifier: Apache-2.0
// The common part of subcommands that have subcommands ("cardan topic list").
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/run_place.hpp"

namespace cardan::apps {

/// Adds a subcommand to `group`, with its examples.
inline CLI::App* add_verb(CLI::App* group, const char* name, const char* what, const char* examples) {
  auto* const command = group->add_subcommand(name, what);
  command->footer(examples);
  return command;
}

inline void add_domain_option(CLI::App* command, std::string& domain) {
  command->add_option("--domain", domain, "Domain to observe (default: $CARDAN_DOMAIN, else \"default\")");
}

/// As run_with(), for a command that lists what runs, and knows what to do where nothing does (nothing_runs_yet()),
/// unless `names(*options)`: it was asked for something by its name.
template <class Run, class Options, class Names>
void list_with(CLI::App* command, Run run, const std::shared_ptr<Options>& options, const Names& names) {
  command->callback([run, options, names] {
    if (names(*options)) refuse_missing_run_directory();
    if (const int code = run(*options); code != 0) throw CLI::RuntimeError(code);
  });
}

/// As run_with(), for a command that looks at something that runs, or gives it orders.
template <class Run, class Options>
void look_with(CLI::App* command, Run run, const std::shared_ptr<Options>& options) {
  command->callback([run, options] {
    refuse_missing_run_directory();
    if (const int code = run(*options); code != 0) throw CLI::RuntimeError(code);
  });
}

/// The command runs `run(*options)`, which returns its exit code.
template <class Run, class Options>
void run_with(CLI::App* command, Run run, const std::shared_ptr<Options>& options) {
  command->callback([run, options] {
    if (const int code = run(*options); code != 0) throw CLI::RuntimeError(code);
  });
}

}  // namespace cardan::apps
