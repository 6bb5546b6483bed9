// SPDX-License-Identifier: Apache-2.0
#include "tests/checker/mutants.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace cardan::checker {

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "";
}

std::vector<std::memory_order> weaker(Kind kind, std::memory_order order) {
  using enum std::memory_order;
  std::vector<std::memory_order> all;
  const auto has = [&](std::memory_order o) { return order == seq_cst || (order == acq_rel && o != acq_rel); };
  if (kind == Kind::Modify && order == seq_cst) all.push_back(acq_rel);
  if ((kind == Kind::Modify || kind == Kind::Load) && has(acquire)) all.push_back(acquire);
  if ((kind == Kind::Modify || kind == Kind::Store) && has(release)) all.push_back(release);
  if (order != relaxed) all.push_back(relaxed);
  return all;
}

Limits limits_of(const ScenarioInfo& scenario) {
  Limits limits;
  if (scenario.random_runs != 0) {
    limits.random_seed = 0x5eed;
    limits.every_interleaving = true;  // a random choice to wait is mostly in vain
    limits.runs = scenario.random_runs;
  }
  return limits;
}

void print_failure(const ScenarioInfo& scenario, const Result& result, const std::string& weaken) {
  std::printf("\n%s: %s\nthread      step what\n", scenario.name, result.message.c_str());
  for (const std::string& line : result.trace) std::printf("%s\n", line.c_str());
  std::string choices;
  for (const std::uint32_t c : result.choices) choices += (choices.empty() ? "" : ",") + std::to_string(c);
  std::printf("again: memory_order_checker --scenario \"%s\"%s --replay %s\n\n", scenario.name,
              weaken.empty() ? "" : (" --weaken " + weaken).c_str(), choices.empty() ? "-" : choices.c_str());
}

bool run_protocols(Execution& execution) {
  using Watch = std::chrono::steady_clock;
  bool good = true;
  std::printf("%-28s %10s %10s %12s %7s  %s\n", "scenario", "executions", "cut", "steps", "s", "");
  for (const ScenarioInfo& scenario : scenarios()) {
    const auto begin = Watch::now();
    const Result r = execution.explore(scenario.factory, limits_of(scenario));
    const bool ok = !r.failed && (r.complete || scenario.random_runs != 0);
    good = good && ok;
    std::printf("%-28s %10llu %10llu %12llu %7.2f  %s%s\n", scenario.name,
                static_cast<unsigned long long>(r.executions), static_cast<unsigned long long>(r.runs - r.executions),
                static_cast<unsigned long long>(r.steps), std::chrono::duration<double>(Watch::now() - begin).count(),
                r.failed ? "FAILS"
                : ok     ? "ok, "
                         : "NOT SEEN TO ITS END",
                r.failed || !ok ? ""
                : r.complete    ? "all"
                                : "random");
    std::fflush(stdout);
    if (r.failed) print_failure(scenario, r, "");
  }
  for (std::size_t i = 0; i < kSiteCount; ++i) {
    if (orders().kind[i] != Kind::Unused) continue;
    std::printf("site %s is in no scenario\n", kSites[i].name);
    good = false;
  }
  return good;
}

namespace {

/// The scenarios that aim at the site first.
std::vector<const ScenarioInfo*> in_order_for(Site site) {
  const auto aims = [site](const ScenarioInfo& s) {
    return std::find(s.targets.begin(), s.targets.end(), site) != s.targets.end();
  };
  std::vector<const ScenarioInfo*> list;
  for (const bool aimed : {true, false}) {
    for (const ScenarioInfo& s : scenarios()) {
      if (aims(s) == aimed) list.push_back(&s);
    }
  }
  return list;
}

}  // namespace

namespace {

/// Steps that the protocols can do without, and their reason.
struct Dispensable {
  Site site;
  const char* why;
};
constexpr Dispensable kDispensable[] = {
    {Site::L1, "a pre-wake that nobody spins for, or a spin to its bound"},
};

void learn_kinds(Execution& execution) {
  for (const ScenarioInfo& s : scenarios()) {  // one run each, to learn what kind of access each site is
    Limits limits = limits_of(s);
    limits.runs = std::min<std::uint64_t>(limits.runs, 2'000);
    execution.explore(s.factory, limits);
  }
}

}  // namespace

bool run_faults(Execution& execution) {
  bool good = true;
  const auto line = [](const char* what, const char* caught_by, const Result& r) {
    std::printf("%-44s %-26s %s\n", what, caught_by, r.message.c_str());
    std::fflush(stdout);
  };
  std::printf("%-44s %-26s %s\n", "fault", "caught by", "what failed");
  for (const ScenarioInfo& s : scenarios()) {
    for (const FaultInfo& fault : s.faults) {
      const Result r = execution.explore(fault.factory, limits_of(s));
      line(fault.what, r.failed ? s.name : "NOBODY", r);
      good = good && r.failed;
    }
  }
  learn_kinds(execution);
  for (std::size_t i = 0; i < kSiteCount; ++i) {
    const auto site = static_cast<Site>(i);
    const Kind kind = orders().kind[i];
    if (kind == Kind::Load || site == Site::R6) continue;  // a load cannot be left out, nor the only exchange
    const auto without = std::find_if(std::begin(kDispensable), std::end(kDispensable),
                                      [site](const Dispensable& d) { return d.site == site; });
    const std::string what = std::string(kSites[i].name) + " left out";
    if (without != std::end(kDispensable)) {
      std::printf("%-44s dispensable: %s\n", what.c_str(), without->why);
      continue;
    }
    orders().left_out = site;
    const char* caught_by = "NOBODY";
    Result r;
    for (const ScenarioInfo* s : in_order_for(site)) {
      r = execution.explore(s->factory, limits_of(*s));
      if (!r.failed) continue;
      caught_by = s->name;
      break;
    }
    orders().left_out.reset();
    line(what.c_str(), caught_by, r);
    good = good && r.failed;
  }
  return good;
}

std::vector<Mutant> run_mutants(Execution& execution, const Site* only) {
  learn_kinds(execution);
  std::vector<Mutant> all;
  std::printf("%-5s %-8s -> %-8s %-26s %10s  %s\n", "site", "", "", "caught by", "steps", "what failed");
  for (std::size_t i = 0; i < kSiteCount; ++i) {
    const auto site = static_cast<Site>(i);
    if (only != nullptr && *only != site) continue;
    for (const std::memory_order order : weaker(orders().kind[i], kSites[i].order)) {
      Mutant m{site, order, {}, {}};
      std::uint64_t steps = 0;
      orders().site[i] = order;
      for (const ScenarioInfo* s : in_order_for(site)) {
        m.result = execution.explore(s->factory, limits_of(*s));
        steps += m.result.steps;
        if (!m.result.failed) continue;
        m.scenario = s->name;
        break;
      }
      orders().site[i] = kSites[i].order;
      std::printf("%-5s %-8s -> %-8s %-26s %10llu  %s\n", kSites[i].name, name_of(kSites[i].order), name_of(order),
                  m.scenario.empty() ? "NOBODY" : m.scenario.c_str(), static_cast<unsigned long long>(steps),
                  m.result.message.c_str());
      std::fflush(stdout);
      all.push_back(std::move(m));
    }
  }
  return all;
}

}  // namespace cardan::checker
