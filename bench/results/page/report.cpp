// SPDX-License-Identifier: Apache-2.0
#include "bench/results/page/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/results/bootstrap.hpp"
#include "bench/results/links.hpp"
#include "bench/results/read.hpp"
#include "bench/results/words.hpp"
#include "cardan/base/error.hpp"

namespace cardan::bench {
namespace {

constexpr int kWritten = 0, kNotWritten = 1, kWrongFile = 2;
constexpr std::size_t kMostMarkdownRows = 200;

// A cell of a Markdown table holds neither its own marks nor HTML.
std::string cell_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]()#+!|~").find(c) != std::string_view::npos) out += '\\';
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  return std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc) > 0 ? text : "";
}

std::string host_key(const Result& r) {
  return r.host_entry("cpu") + "\x1f" + r.host_entry("cpus") + "\x1f" + r.host_entry("kernel");
}

std::string links_markdown(const std::vector<LinksOfPeer>& peers) {
  if (peers.empty()) return "";
  std::string out =
      "\n" + links_criterion() + "\n\n| cell of one link | peer | links sustained | measured |\n|---|---|---|---|\n";
  std::size_t rows = 0;
  for (const LinksOfPeer& peer : peers) {
    if (++rows > kMostMarkdownRows) break;
    std::string measured;
    for (const LinksPoint& point : peer.points)
      measured += fmt::format("{}{}: {}", measured.empty() ? "" : "; ", point.links, text_of(point));
    out += fmt::format("| {} | {} | **{}** | {} |\n", cell_text(peer.cell), cell_text(peer.contender), peer.text(),
                       measured);
  }
  return out;
}

Result merged(const std::vector<Result>& results) {
  Result all;
  for (const Result& r : results) {
    if (all.host.empty()) all.host = r.host;
    all.interrupted = all.interrupted || r.interrupted;
    all.measurements.insert(all.measurements.end(), r.measurements.begin(), r.measurements.end());
    for (const std::string& text : r.left_out)
      if (std::find(all.left_out.begin(), all.left_out.end(), text) == all.left_out.end()) all.left_out.push_back(text);
    all.failures.insert(all.failures.end(), r.failures.begin(), r.failures.end());
  }
  return all;
}

}  // namespace

Report prepare(const std::vector<Result>& results) {
  Report report;
  report.results = &results;
  std::map<std::string, const Result*> owners;
  std::set<std::string> hosts;
  for (const Result& result : results) {
    hosts.insert(host_key(result));
    for (const Measurement& m : result.measurements) {
      const auto [owner, fresh] = owners.emplace(m.identity(), &result);
      if (!fresh)
        throw Error(ErrorCode::InvalidArgument,
                    fmt::format("{} and {} both have: {}", owner->second->source, result.source, name_of(m)),
                    "give each measurement once; `cardan bench compare` is for two results of the same");
      report.measurements.push_back(&m);
    }
  }
  const Evidence evidence(report.measurements, hosts.size());
  for (const Statement& statement : all_statements())
    report.statements.push_back({&statement, statement.judge(evidence)});
  return report;
}

std::string to_markdown(const Report& report) {
  std::string out = "# Benchmark summary\n\n";
  for (const Result& r : *report.results)
    out +=
        fmt::format("{}: {}, {} CPUs, {}, governor {}, steal {} %, Cardan {}{}\n\n", cell_text(r.source),
                    cell_text(r.host_entry("cpu")), cell_text(r.host_entry("cpus")), cell_text(r.host_entry("kernel")),
                    cell_text(r.host_entry("governor")), cell_text(r.host_entry("steal_percent")),
                    cell_text(r.host_entry("cardan")), r.interrupted ? " (interrupted)" : "");
  out +=
      "| part | cell | size, rate | peer | quantity | p50 (95 %) | p99 | lost |\n|---|---|---|---|---|---|---|---|\n";
  std::size_t rows = 0;
  for (const Measurement* m : report.measurements) {
    // The main quantity of each cell: the one that counts its losses, or all there is.
    if (m->kept() == 0) continue;
    if (!m->due && (m->part == "transport" || m->part == "runtime" || m->part == "pipeline")) continue;
    if (++rows > kMostMarkdownRows) break;
    const Summary s = summarize(m->pooled());
    const auto interval = median_interval95(*m);
    out += fmt::format(
        "| {} | {} | {}{} | {} | {}, {} | {}{} | {} | {} |\n", cell_text(m->part), cell_text(m->cell),
        name_of_size(m->bytes), m->rate_hz > 0 ? fmt::format(", {:g} Hz", m->rate_hz) : "",
        cell_text(name_of_contender(*m)), cell_text(m->quantity), cell_text(m->unit), three_digits(s.p50),
        interval ? fmt::format(" ({} … {})", three_digits(interval->first), three_digits(interval->second)) : "",
        three_digits(s.p99), m->lost ? fmt::format("{} of {}", *m->lost, *m->due) : "");
  }
  if (rows > kMostMarkdownRows) out += "\nMore rows are in index.html and results.json.\n";
  out += links_markdown(links_of(report.measurements));
  out += "\n| paper | statement | here |\n|---|---|---|\n";
  for (const Report::Judged& j : report.statements)
    out += fmt::format("| {} | {} | **{}**: {} |\n", j.statement->paper, cell_text(j.statement->text),
                       name_of(j.finding.judgement), cell_text(j.finding.figures));
  return out;
}

void write_report(const std::vector<Result>& results, const std::string& folder) {
  Report report = prepare(results);
  report.made = now_text();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::System, fmt::format("cannot make {}: {}", folder, error.message()),
                "give --out a folder that you may write");
  const std::filesystem::path place(folder);
  const char* const remedy = "give --out a folder that you may write";
  write_file((place / "index.html").string(), to_html(report), remedy);
  write_file((place / "summary.md").string(), to_markdown(report), remedy);
  write_json((place / "results.json").string(), to_json(merged(results)));
}

int run_report(const ReportArguments& arguments) {
  try {
    std::vector<Result> results;
    for (const std::string& path : arguments.results) results.push_back(read_result(path));
    write_report(results, arguments.out);
    fmt::print("wrote {}/index.html, summary.md and results.json\n", arguments.out);
    return kWritten;
  } catch (const Error& e) {
    fmt::print(stderr, "cardan bench report: {}\n", e.what());
    return e.code() == ErrorCode::InvalidArgument ? kWrongFile : kNotWritten;
  }
}

}  // namespace cardan::bench
