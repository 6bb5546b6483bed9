// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/checker/litmus.hpp"
#include "tests/checker/mutants.hpp"
#include "tests/checker/table.hpp"

namespace {

using namespace cardan::checker;
using cardan::Site;

constexpr const char* kHelp = R"(memory_order_checker: the protocols' real code under the C++20 memory model
  --litmus                    the proof of the checker: outcomes that the standard allows and forbids
  --protocols                 every scenario with the orders of order_table.hpp
  --faults                    wrong variants of the code, and each write and fence left out; fails if one is not caught
  --mutants [SITE]            every weakening of every order (of one); fails if one is not caught
  --list                      the scenarios and the sites
  --scenario NAME             one scenario, with
      --weaken SITE=ORDER       a weaker order (may be repeated)
      --random SEED --runs N    random runs instead of all
      --replay 0,2,1            one run by its choices, traced (from a failure's last line)
  --check-docs FOLDER         are the tables in FOLDER up to date? (with --mutants: to the last column)
  --write-docs FOLDER         runs the mutants and writes the tables
Exit: 0 good, 1 an invariant fell or a weakening was not caught, 2 usage.
)";

std::optional<Site> site_named(std::string_view name) {
  for (std::size_t i = 0; i < kSiteCount; ++i) {
    if (name == cardan::kSites[i].name) return static_cast<Site>(i);
  }
  std::fprintf(stderr, "there is no site %s; --list shows them\n", std::string(name).c_str());
  return std::nullopt;
}

bool weaken(const std::string& how) {
  const auto equals = how.find('=');
  const auto site = site_named(how.substr(0, equals));
  if (!site) return false;
  for (const auto order : {std::memory_order_relaxed, std::memory_order_acquire, std::memory_order_release,
                           std::memory_order_acq_rel, std::memory_order_seq_cst}) {
    if (equals == std::string::npos || how.substr(equals + 1) != name_of(order)) continue;
    orders().site[static_cast<std::size_t>(*site)] = order;
    return true;
  }
  std::fprintf(stderr, "--weaken wants SITE=relaxed, acquire, release or acq_rel\n");
  return false;
}

int list() {
  for (const ScenarioInfo& s : scenarios()) std::printf("%-28s %s\n", s.name, s.what);
  std::printf("\n");
  for (const auto& s : cardan::kSites) std::printf("%-5s %-8s %s\n", s.name, name_of(s.order), s.access);
  return 0;
}

bool all_caught(const std::vector<Mutant>& mutants) {
  const auto survivors =
      std::count_if(mutants.begin(), mutants.end(), [](const Mutant& m) { return m.scenario.empty(); });
  std::printf("%zu weakenings, %td not caught\n", mutants.size(), survivors);
  return survivors == 0;
}

struct Command {
  bool litmus = false, protocols = false, faults = false, mutants = false, list = false;
  std::optional<Site> only;
  std::string scenario, check, write, weakened;
  std::optional<std::vector<std::uint32_t>> replay;
  std::uint64_t seed = 0, runs = 0;
};

/// An option that takes a value; false: no such option, or its value is wrong.
bool parse_value(Command& c, std::string_view option, char* value) {
  if (option == "--scenario")
    c.scenario = value;
  else if (option == "--check-docs")
    c.check = value;
  else if (option == "--write-docs")
    c.write = value;
  else if (option == "--random")
    c.seed = std::strtoull(value, nullptr, 0);
  else if (option == "--runs")
    c.runs = std::strtoull(value, nullptr, 0);
  else if (option == "--weaken") {
    if (!weaken(value)) return false;
    c.weakened.append(c.weakened.empty() ? "" : " --weaken ").append(value);
  } else if (option == "--replay") {
    c.replay.emplace();
    for (char* p = value; *p >= '0' && *p <= '9';) {
      c.replay->push_back(static_cast<std::uint32_t>(std::strtoul(p, &p, 10)));
      if (*p == ',') ++p;
    }
  } else {
    return false;
  }
  return true;
}

std::optional<Command> parse(int argc, char** argv) {
  Command c;
  for (int i = 1; i < argc; ++i) {
    const std::string_view a = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (a == "--litmus")
      c.litmus = true;
    else if (a == "--protocols")
      c.protocols = true;
    else if (a == "--faults")
      c.faults = true;
    else if (a == "--list")
      c.list = true;
    else if (a == "--mutants") {
      c.mutants = true;
      if (value != nullptr && value[0] != '-') {
        c.only = site_named(argv[++i]);
        if (!c.only) return std::nullopt;
      }
    } else if (value == nullptr || !parse_value(c, a, argv[++i])) {
      return std::nullopt;
    }
  }
  return c;
}

int run_scenario(Execution& execution, const Command& c) {
  const auto& all = scenarios();
  const auto it = std::find_if(all.begin(), all.end(), [&](const ScenarioInfo& s) { return c.scenario == s.name; });
  if (it == all.end()) {
    std::fprintf(stderr, "there is no scenario \"%s\"; --list shows them\n", c.scenario.c_str());
    return 2;
  }
  if (c.replay) {
    const Result r = execution.replay(it->factory, *c.replay);
    for (const std::string& line : r.trace) std::printf("%s\n", line.c_str());
    std::printf("%s\n", r.failed ? r.message.c_str() : "nothing failed");
    return r.failed ? 1 : 0;
  }
  Limits limits = limits_of(*it);
  if (c.seed != 0) {
    limits.random_seed = c.seed;
    limits.every_interleaving = true;
  }
  if (c.runs != 0) limits.runs = c.runs;
  const Result r = execution.explore(it->factory, limits);
  if (r.failed) print_failure(*it, r, c.weakened);
  std::printf("%s: %llu executions, %llu cut, %s\n", it->name, static_cast<unsigned long long>(r.executions),
              static_cast<unsigned long long>(r.runs - r.executions),
              r.failed     ? "FAILS"
              : r.complete ? "all seen, ok"
                           : "ok so far");
  return r.failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto command = parse(argc, argv);
  if (!command || argc == 1) {
    std::fputs(kHelp, command && argc == 1 ? stdout : stderr);
    return 2;
  }
  const Command& c = *command;
  Execution execution;
  bool good = true;
  if (c.list) return list();
  if (!c.scenario.empty()) return run_scenario(execution, c);
  if (c.litmus) good = run_litmus(execution) && good;
  if (c.protocols) good = run_protocols(execution) && good;
  if (c.faults) good = run_faults(execution) && good;
  std::vector<Mutant> mutants;
  if (c.mutants || !c.write.empty()) {
    mutants = run_mutants(execution, c.only ? &*c.only : nullptr);
    good = all_caught(mutants) && good;
  }
  if (!c.write.empty()) good = write_docs(c.write, mutants) && good;
  if (!c.check.empty()) good = check_docs(c.check, c.mutants && !c.only ? &mutants : nullptr) && good;
  return good ? 0 : 1;
}
