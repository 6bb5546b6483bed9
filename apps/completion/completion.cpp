// SPDX-License-Identifier: Apache-2.0
// `cardan completion`: prints the scripts that `make install` puts where the shells look for them.
#include "apps/completion/completion.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/completion_scripts.hpp"
#include "apps/view/output.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kExamples = R"(Examples:
  source <(cardan completion bash)                                       this shell only
  cardan completion bash > ~/.local/share/bash-completion/completions/cardan
  cardan completion zsh > "${fpath[1]}/_cardan"
  cardan completion fish > ~/.config/fish/completions/cardan.fish)";

}  // namespace

void add_completion_command(CLI::App& app) {
  auto* const command = app.add_subcommand("completion", "Print the completion script of a shell: bash, zsh or fish");
  command->footer(kExamples);
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell] {
    const char* const script = *shell == "bash" ? kBashCompletion : *shell == "zsh" ? kZshCompletion : kFishCompletion;
    if (!emit(script)) throw CLI::RuntimeError(kFailed);
  });
}

}  // namespace cardan::apps
