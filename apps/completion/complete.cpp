// SPDX-License-Identifier: Apache-2.0
#include "apps/completion/complete.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace cardan::apps {
namespace {

/// Where the values of an option come from, by its name: the same name means the same in all commands.
struct Source {
  std::string_view name;
  std::string_view what;  ///< ":files", ":folders", or the command that lists them
};
constexpr std::array kSources = std::to_array<Source>({
    {"file", ":files"},
    {"files", ":files"},
    {"--attach", ":files"},
    {"--camera", ":files"},
    {"--detector", ":files"},
    {"--from", ":files"},
    {"--json", ":files"},
    {"--lidar", ":files"},
    {"--log", ":files"},
    {"--output", ":files"},
    {"--parameters", ":files"},
    {"--picture", ":files"},
    {"--record", ":files"},
    {"--svg", ":files"},
    {"--folder", ":folders"},
    {"--msgs", ":folders"},
    {"--reports", ":folders"},
    {"--to", ":folders"},
    {"topic", "topic list --names"},
    {"topics", "topic list --names"},
    {"service", "service list --names"},
    {"target", "tf tree --names"},
    {"source", "tf tree --names"},
    {"type", "message list"},
    {"component", "component list --names"},
    {"parameter", "param list --names"},
});

std::string_view source_of(const CLI::Option& option) {
  for (const Source& source : kSources)
    if (option.check_name(std::string(source.name))) return source.what;
  return {};
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// The words of "TEXT:{none,lz4,zstd}".
std::vector<std::string> members_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto begin = type.find('{');
  const auto end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

std::string headline(const std::string& text) { return text.substr(0, text.find('\n')); }

CLI::App* subcommand_of(const CLI::App& app, const std::string& name) {
  const auto all = app.get_subcommands([&](const CLI::App* a) { return a->check_name(name); });
  return all.empty() ? nullptr : const_cast<CLI::App*>(all.front());
}

/// The part of the command line read so far.
struct Place {
  CLI::App* app;
  CLI::Option* open = nullptr;  ///< an option whose value comes next
  std::size_t positionals = 0;
  std::string domain{};
  std::size_t read = 0;  ///< words
};

Place place_of(CLI::App& app, const std::vector<std::string>& words) {
  Place place{&app};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (place.open != nullptr) {
      if (place.open->check_name("--domain")) place.domain = word;
      place.open = nullptr;
    } else if (word.size() > 1 && word[0] == '-') {
      CLI::Option* option = place.app->get_option_no_throw(word);
      if (option != nullptr && takes_value(*option)) place.open = option;
    } else if (CLI::App* below = subcommand_of(*place.app, word); below != nullptr) {
      place.app = below;
      place.positionals = 0;
      place.read = i + 1;
      if (below->get_prefix_command()) break;
    } else {
      ++place.positionals;
    }
  }
  return place;
}

void values(const CLI::Option& option, const Place& place, Candidates& found) {
  for (const std::string& member : members_of(option)) found.lines += member + "\n";
  const std::string_view source = source_of(option);
  if (source.empty() || !found.lines.empty()) return;
  if (source.starts_with(':')) {
    found.lines = std::string(source) + "\n";
    return;
  }
  found.asks = CLI::detail::split(std::string(source), ' ');
  if (!place.domain.empty()) found.asks.insert(found.asks.end(), {"--domain", place.domain});
}

}  // namespace

Candidates complete(CLI::App& app, const std::vector<std::string>& words) {
  Candidates found;
  if (words.empty()) return found;
  const Place place = place_of(app, words);
  if (place.app->get_prefix_command()) {  // another program, which completes the rest itself
    const auto rest = words.begin() + static_cast<std::ptrdiff_t>(place.read);
    found.asks.assign(words.begin(), rest);
    found.asks.emplace_back("__complete");
    found.asks.insert(found.asks.end(), rest, words.end());
    return found;
  }
  if (place.open != nullptr) {
    values(*place.open, place, found);
    return found;
  }
  if (words.back().starts_with('-')) {
    for (const CLI::Option* option : place.app->get_options([](const CLI::Option* o) { return o->nonpositional(); }))
      if (!option->get_group().empty())
        for (const std::string& name : option->get_lnames())
          found.lines += "--" + name + "\t" + headline(option->get_description()) + "\n";
    return found;
  }
  for (const CLI::App* below : place.app->get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    found.lines += below->get_name() + "\t" + headline(below->get_description()) + "\n";
  const auto positionals = place.app->get_options([](const CLI::Option* o) { return o->get_positional(); });
  if (positionals.empty()) return found;
  const CLI::Option& next = *positionals[std::min(place.positionals, positionals.size() - 1)];
  if (place.positionals < positionals.size() || next.get_expected_max() > 1) values(next, place, found);
  return found;
}

}  // namespace cardan::apps
