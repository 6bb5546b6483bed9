// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <exception>
#include <sstream>
#include <utility>

#include "apps/completion/complete.hpp"
#include "apps/foreign_names.hpp"
#include "apps/manual/manual.hpp"
#include "apps/terminal/numbers.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "src/config/suggest.hpp"

namespace cardan::apps {
namespace {

const CLI::App& deepest_app(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// The subcommand that the wrong words belong to: "cardan topic echo".
std::string deepest(const CLI::App& app) {
  std::string name = app.get_name();
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

/// "unknown command 'cardan topic lst' — did you mean 'list'?" if the word of a subcommand is wrong; else nothing.
/// A name that other programs have is answered with the command that does it here.
std::string wrong_subcommand(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::App* const command :
       deepest_app(app).get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
    known.push_back(command->get_name());
  const std::vector<std::string> rest = app.remaining(true);
  if (known.empty() || rest.empty() || rest.front().starts_with('-')) return {};
  const CLI::App& at = deepest_app(app);
  const std::string other = foreign_name(&at == &app ? "" : at.get_name(), rest.front());
  return fmt::format("unknown command '{} {}' — {}", deepest(app), rest.front(),
                     other.empty() ? config::suggestion(rest.front(), known, "") : other);
}

/// "unknown option '--jsn' of 'cardan topic echo' — did you mean '--json'?" if one is not known and another one is
/// near; else nothing.
std::string wrong_option(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  const auto wrong = std::find_if(rest.begin(), rest.end(), [](const std::string& s) { return s.starts_with("--"); });
  if (wrong == rest.end()) return {};
  std::vector<std::string> known;
  for (const CLI::Option* const option : deepest_app(app).get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::string name = wrong->substr(0, wrong->find('='));
  const std::string meant = config::nearest(name, known);
  return meant.empty() || meant == name
             ? std::string()
             : fmt::format("unknown option '{}' of '{}' — did you mean '{}'?", name, deepest(app), meant);
}

int wrong_usage(const CLI::App& app, const CLI::ParseError& e) {
  if (const std::string words = wrong_subcommand(app); !words.empty()) {
    warn(words);
    return kUsage;
  }
  if (const std::string words = wrong_option(app); !words.empty()) {
    warn(words);
    return kUsage;
  }
  std::string cause = e.what();
  if (const std::vector<std::string> rest = app.remaining(true);  // CLI11 lists them backwards
      rest.size() > 1 && dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr)
    cause = fmt::format("the following arguments were not expected: {}", fmt::join(rest, " "));
  while (!cause.empty() && (cause.back() == '\n' || cause.back() == '.')) cause.pop_back();
  for (char& c : cause)
    if (c == '\n') c = ' ';
  // "A subcommand" → "a subcommand", but "--json …" and "TOPIC …" stay.
  if (cause.size() > 1 && std::islower(static_cast<unsigned char>(cause[1])) != 0)
    cause[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(cause[0])));
  if (cause.size() > 1 && cause[1] == ' ')
    cause[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(cause[0])));
  warn(fmt::format("{} — see {} --help", cause, deepest(app)));
  return kUsage;
}

/// An option takes one value, and may be given again: a name after its value is an argument of the command. One that
/// says how many it takes at most (`expected(1, n)`) takes as many in a row.
void take_one_value_each(CLI::App& app) {
  for (CLI::Option* const option : app.get_options([](const CLI::Option* o) { return o->nonpositional(); }))
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) option->allow_extra_args(false);
  for (CLI::App* const command : app.get_subcommands({})) take_one_value_each(*command);
}

std::string name_of(const std::string& option) { return option.substr(0, option.find('=')); }

/// How many of the commands below have an option of that name, and how many of these options take a value.
void count_options(const CLI::App& app, const std::string& name, std::size_t& there, std::size_t& with_value) {
  if (const CLI::Option* const option = app.get_option_no_throw(name)) {
    ++there;
    if (option->get_items_expected_max() > 0) ++with_value;
  }
  for (const CLI::App* const below : app.get_subcommands([](const CLI::App*) { return true; }))
    count_options(*below, name, there, with_value);
}

CLI::App* command_of(CLI::App& app, const std::string& word) {
  const auto found = app.get_subcommands([&](CLI::App* command) { return command->check_name(word); });
  return found.empty() ? nullptr : found.front();
}

/// Options may precede their command, and `help` instead of --help: "cardan --json topic list" is "cardan topic
/// list --json", "cardan help topic" is "cardan topic --help".
std::vector<std::string> in_order(CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> commands;
  std::vector<std::string> options;
  bool help = false;
  CLI::App* at = &app;
  std::size_t i = 0;
  for (; i < words.size() && !at->get_subcommands({}).empty() && !at->get_prefix_command(); ++i) {
    const std::string& word = words[i];
    CLI::App* const below = command_of(*at, word);
    if (below != nullptr) {
      commands.push_back(word);
      at = below;
    } else if (word == "help") {
      help = true;
    } else if (word.size() < 2 || word.front() != '-' || at->get_option_no_throw(name_of(word)) != nullptr) {
      break;
    } else {
      options.push_back(word);
      std::size_t there = 0;
      std::size_t with_value = 0;
      count_options(*at, name_of(word), there, with_value);
      if (word.find('=') != std::string::npos || with_value == 0 || i + 1 == words.size()) continue;
      // Where some options take no value, the name of a command is not a value.
      if (with_value == there || command_of(*at, words[i + 1]) == nullptr) options.push_back(words[++i]);
    }
  }
  if (help && i == words.size()) options.insert(options.begin(), "--help");
  commands.insert(commands.end(), options.begin(), options.end());
  commands.insert(commands.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  return commands;
}

/// Parses, runs what was asked for, and says what went wrong.
int parse_and_run(CLI::App& app, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(std::move(words));
    return kOk;
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();
  } catch (const CLI::Success& e) {
    std::ostringstream text;  // --help, --version
    const int code = app.exit(e, text);
    return emit(text.str()) ? code : kFailed;
  } catch (const CLI::ParseError& e) {
    return wrong_usage(app, e);
  } catch (const Error& e) {
    warn(e.what());
    return e.code() == ErrorCode::InvalidArgument ? kUsage : kFailed;
  } catch (const std::exception& e) {
    warn(fmt::format("{} — a bug in Cardan, or this computer lacks a resource; `cardan doctor` may show which",
                     e.what()));
    return kFailed;
  }
}

int run_words(CLI::App& app, std::vector<std::string> words) {
  if (!words.empty() && words.front() == "__manual") return write_manual(app, {words.begin() + 1, words.end()});
  if (words.empty() || words.front() != "__complete") return parse_and_run(app, in_order(app, words));
  words.erase(words.begin());
  Candidates found = complete(app, words);
  if (found.asks.empty()) return emit(found.lines) ? kOk : kFailed;
  return parse_and_run(app, std::move(found.asks));
}

}  // namespace

int run_program(CLI::App& app, std::vector<std::string> words) {
  refuse_nonsense_numbers(app);
  take_one_value_each(app);
  return finish_output(run_words(app, std::move(words)));
}

}  // namespace cardan::apps
