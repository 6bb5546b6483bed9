// SPDX-License-Identifier: Apache-2.0
#include "apps/manual/manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fstream>
#include <memory>
#include <string_view>

#include "apps/terminal/output.hpp"

namespace cardan::apps {
namespace {

/// A text as roff prints it: `words` of the command in bold, and nothing that roff would take for its own.
std::string roff(std::string_view text) {
  std::string out;
  const bool marks = std::count(text.begin(), text.end(), '`') % 2 == 0;
  bool bold = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '`':
        if (marks) bold = !bold;
        out += !marks ? "\\(ga" : bold ? "\\fB" : "\\fR";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// The text after the options in `--help`: "Examples:" and its lines, "Exit codes: …", "Environment: …", and prose.
struct Footer {
  std::string prose, examples, exit_codes, environment;
};

Footer parts_of(const std::string& text) {
  constexpr std::string_view kExamplesHead = "Examples:";
  constexpr std::string_view kCodesHead = "Exit codes: ";
  constexpr std::string_view kEnvironmentHead = "Environment: ";
  Footer parts;
  std::string* at = &parts.prose;
  for (std::string line : CLI::detail::split(text, '\n')) {
    if (line == kExamplesHead) {
      at = &parts.examples;
      continue;
    }
    if (line.starts_with(kCodesHead)) {
      at = &parts.exit_codes;
      line.erase(0, kCodesHead.size());
    } else if (line.starts_with(kEnvironmentHead)) {
      at = &parts.environment;
      line.erase(0, kEnvironmentHead.size());
    }
    if (line.empty()) {
      if (at != &parts.examples && !at->empty()) *at += ".PP\n";
      if (at == &parts.examples) at = &parts.prose;
      continue;
    }
    *at += roff(at == &parts.examples ? CLI::detail::trim(line) : line) + "\n";
  }
  for (std::string* part : {&parts.prose, &parts.exit_codes, &parts.environment})
    while (part->ends_with(".PP\n")) part->erase(part->size() - 4);
  return parts;
}

std::string hyphens(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string section(const char* head, const std::string& text) {
  return text.empty() ? std::string() : fmt::format(".SH {}\n{}", head, text);
}

std::string option_text(const CLI::Formatter& words, const CLI::Option& option) {
  std::string rest = CLI::detail::trim_copy(words.make_option_opts(&option));
  if (!rest.empty()) rest = " " + roff(rest);
  std::string name = option.get_positional() ? option.get_name(true) : option.get_name(false, true);
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name), rest, roff(option.get_description()));
}

/// The page of `app`, whose whole name is `name` ("cardan topic echo").
std::string page(const CLI::App& app, const std::string& name) {
  const auto words = std::dynamic_pointer_cast<CLI::Formatter>(app.get_formatter());
  std::string synopsis, options, commands, also;
  for (const CLI::Option* const option :
       app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    if (words) options += option_text(*words, *option);
    if (!option->get_positional()) continue;
    const std::string shown =
        fmt::format("\\fI{}\\fR{}", roff(option->get_name(true)), option->get_expected_max() > 1 ? " ..." : "");
    synopsis += option->get_required() ? " " + shown : " [" + shown + "]";
  }
  for (const CLI::App* const below : app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); })) {
    const std::string whole = name + " " + below->get_name();
    commands += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(below->get_name()), roff(below->get_description()));
    also += fmt::format("{}.BR {} (1)", also.empty() ? "" : ",\n", roff(hyphens(whole)));
  }
  if (const auto last = name.rfind(' '); last != std::string::npos)
    also = fmt::format(".BR {} (1){}{}", roff(hyphens(name.substr(0, last))), also.empty() ? "" : ",\n", also);
  const Footer footer = parts_of(app.get_footer());

  std::string title = hyphens(name);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text =
      fmt::format(".\\\" Made by `{} __manual` from what --help prints.\n.TH {} 1 \"\" \"Cardan\" \"Cardan\"\n",
                  name.substr(0, name.find(' ')), roff(title));
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(hyphens(name)), roff(app.get_description()));
  text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR{}{}{}\n", roff(name), options.empty() ? "" : " [\\fIOPTIONS\\fR]",
                      synopsis, commands.empty() ? "" : " \\fISUBCOMMAND\\fR");
  text += section("DESCRIPTION", footer.prose);
  text += section("OPTIONS", options);
  text += section("SUBCOMMANDS", commands);
  text += section("EXIT STATUS", footer.exit_codes);
  text += section("ENVIRONMENT", footer.environment);
  if (!footer.examples.empty()) text += section("EXAMPLES", ".nf\n" + footer.examples + ".fi\n");
  if (!also.empty()) text += section("SEE ALSO", also + "\n");
  return text;
}

void add_pages(const CLI::App& app, const std::string& name, std::vector<ManualPage>& pages) {
  pages.push_back({hyphens(name) + ".1", page(app, name)});
  for (const CLI::App* const below : app.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    if (!below->get_prefix_command()) add_pages(*below, name + " " + below->get_name(), pages);
}

}  // namespace

std::vector<ManualPage> manual_pages(CLI::App& app) {
  std::vector<ManualPage> pages;
  add_pages(app, app.get_name(), pages);
  return pages;
}

int write_manual(CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() != 1) {
    warn("__manual needs the folder that the manual pages are written to");
    return kUsage;
  }
  for (const ManualPage& page : manual_pages(app)) {
    const std::string path = words.front() + "/" + page.file;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << page.text;
    if (file.close(); file.fail()) {
      warn(fmt::format("cannot write {} — check that the folder exists and has space", path));
      return kFailed;
    }
  }
  return kOk;
}

}  // namespace cardan::apps
