// SPDX-License-Identifier: Apache-2.0
// `cardan completion`: prints the scripts that `make install` puts where the shells look for them. Each asks
// `cardan __complete` for the words (complete.hpp).
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/command.hpp"
#include "apps/terminal/output.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kCompletionExamples = R"(Examples:
  source <(cardan completion bash)                                       this shell only
  cardan completion bash > ~/.local/share/bash-completion/completions/cardan
  cardan completion zsh > "${fpath[1]}/_cardan"
  cardan completion fish > ~/.config/fish/completions/cardan.fish)";

constexpr const char* kBash = R"script(# bash completion of `cardan`
_cardan() {
  local current=${COMP_WORDS[COMP_CWORD]} line words=()
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
      :folders) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
      *) line=${line%%$'\t'*}; [[ $line == "$current"* ]] && COMPREPLY+=("$line") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _cardan cardan
)script";

constexpr const char* kZsh = R"script(#compdef cardan
# zsh completion of `cardan`
_cardan() {
  local line
  local -a described
  for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) _files ;;
      :folders) _files -/ ;;
      *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) described+=("${line//:/\\:}") ;;
    esac
  done
  _describe cardan described
}
if [[ $funcstack[1] == _cardan ]]; then _cardan "$@"; else compdef _cardan cardan; fi
)script";

constexpr const char* kFish = R"script(# fish completion of `cardan`
function __cardan_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :folders
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c cardan -f -a '(__cardan_complete)'
)script";

void add(CLI::App& app) {
  auto* const command = app.add_subcommand("completion", "Print the completion script of a shell: bash, zsh or fish");
  command->footer(kCompletionExamples);
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell] {
    if (!emit(*shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish)) throw CLI::RuntimeError(kFailed);
  });
}

const Command kCommand{900, add};

}  // namespace
}  // namespace cardan::apps
