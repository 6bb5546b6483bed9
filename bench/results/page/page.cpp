// SPDX-License-Identifier: Apache-2.0
// The report as a page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "bench/results/links.hpp"
#include "bench/results/page/plots.hpp"
#include "bench/results/page/report.hpp"
#include "bench/results/page/style.hpp"
#include "bench/results/page/svg.hpp"
#include "bench/results/words.hpp"
#include "cardan/base/xml_text.hpp"

namespace cardan::bench {
namespace {

using detail::xml_text;

constexpr std::size_t kMostNumbersOfLinks = 16;  // columns: a file may have any number of them
constexpr std::size_t kMostLines = 2000;         // of the table of all figures
constexpr double kNotableSteal = 2;              // percent
constexpr double kNotableLoad = 3;

bool is_figure(const std::string& text) {
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

std::string table_html(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>";
  for (const std::string& name : head) out += "<th scope=\"col\">" + xml_text(name) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row)
      out += (is_figure(cell) ? "<td class=\"n\">" : "<td>") + xml_text(cell) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string commands_html(const std::vector<std::string>& commands) {
  if (commands.empty()) return "";
  std::string out = "<details><summary>Measure it again</summary>\n";
  for (const std::string& command : commands) out += "<p><code>" + xml_text(command) + "</code></p>\n";
  return out + "</details>\n";
}

std::string list_html(const std::string& title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string out = fmt::format("<p>{}:</p><ul>", xml_text(title));
  for (const std::string& sentence : sentences) out += "<li>" + xml_text(sentence) + "</li>";
  return out + "</ul>\n";
}

/// The computers side by side: what is alike is seen.
std::string hosts_html(const std::vector<Result>& results) {
  std::vector<std::string> entries;
  for (const Result& result : results)
    for (const auto& [name, value] : result.host)
      if (std::find(entries.begin(), entries.end(), name) == entries.end()) entries.push_back(name);
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">result</th>";
  for (const Result& result : results) out += "<th scope=\"col\">" + xml_text(result.source) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const std::string& entry : entries) {
    out += "<tr><th scope=\"row\">" + xml_text(entry) + "</th>";
    for (const Result& result : results) out += "<td>" + xml_text(result.host_entry(entry)) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  for (const Result& result : results) {
    if (result.interrupted)
      out += "<p class=\"bad\">" + xml_text(result.source) + " was interrupted: not all was measured.</p>\n";
    out += list_html(result.source + ": not measured", result.left_out);
    out += list_html(result.source + ": failed", result.failures);
  }
  return out;
}

/// Whether the figures can be trusted.
std::string noise_html(const Report& report) {
  std::vector<std::string> noisy;
  double most = 0;
  std::vector<double> loads;
  for (const Measurement* m : report.measurements) {
    if (m->noisy) noisy.push_back(name_of(*m));
    for (const MeasuredRun& run : m->runs) {
      most = std::max(most, run.steal_percent);
      if (run.other_load_percent > 0) loads.push_back(run.other_load_percent);
    }
  }
  std::string out = "<h3>Noise</h3>\n";
  out += fmt::format("<p class=\"{}\">{} of {} measurements were disturbed in all their repetitions. ",
                     noisy.empty() ? "good" : "bad", noisy.size(), report.measurements.size());
  out += fmt::format("The most that a hypervisor took from a run that was kept: {:.1f} %{}.</p>\n", most,
                     most > kNotableSteal ? " (above 2 %, it is measured again, at most twice)" : "");
  if (!loads.empty()) {
    const double load = median(loads);
    out +=
        fmt::format("<p class=\"{}\">Other programs used {:.1f} % of the computer, in the median of the runs{}.</p>\n",
                    load > kNotableLoad ? "bad" : "good", load,
                    load > kNotableLoad ? ": end them, and measure again, for figures that can be trusted" : "");
  }
  if (noisy.size() > 50) noisy.resize(50);
  if (!noisy.empty()) out += "<details><summary>Which</summary>" + list_html("Disturbed", noisy) + "</details>\n";
  return out;
}

std::string losses_html(const Report& report) {
  std::vector<std::vector<std::string>> rows;
  std::uint64_t due = 0;
  for (const Measurement* m : report.measurements) {
    due += m->due.value_or(0);
    if (m->lost.value_or(0) == 0 || rows.size() >= kMostLines) continue;
    rows.push_back({name_of(*m), std::to_string(*m->lost), std::to_string(*m->due),
                    fmt::format("{:.3f} %", 100 * static_cast<double>(*m->lost) / static_cast<double>(*m->due))});
  }
  std::string out = "<h2 id=\"loss\">Loss</h2>\n";
  if (rows.empty()) return out + fmt::format("<p class=\"good\">Nothing was lost of {} messages.</p>\n", due);
  return out + fmt::format("<p>{} measurements lost messages.</p>\n", rows.size()) +
         table_html({"measurement", "lost", "due", "share"}, rows);
}

/// Empty: no peer was measured with several numbers of links.
std::string links_html(const std::vector<LinksOfPeer>& peers) {
  if (peers.empty()) return "";
  std::set<std::uint32_t> numbers;
  for (const LinksOfPeer& peer : peers)
    for (const LinksPoint& point : peer.points)
      if (numbers.size() < kMostNumbersOfLinks) numbers.insert(point.links);
  std::vector<std::string> head{"cell of one link", "peer", "sustained"};
  for (const std::uint32_t number : numbers) head.push_back(fmt::format("{} at once", number));
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> commands;
  for (const LinksOfPeer& peer : peers) {
    if (rows.size() >= kMostLines) break;
    std::vector<std::string> row{peer.cell, peer.contender, peer.text()};
    for (const std::uint32_t number : numbers) {
      const auto point =
          std::find_if(peer.points.begin(), peer.points.end(), [&](const LinksPoint& p) { return p.links == number; });
      row.push_back(point == peer.points.end() ? "" : text_of(*point));
    }
    rows.push_back(std::move(row));
    commands.insert(commands.end(), peer.commands.begin(), peer.commands.end());
  }
  return "<h2 id=\"links\">Links sustained</h2>\n<p class=\"faint\">" + xml_text(links_criterion()) + "</p>\n" +
         table_html(head, rows) + commands_html(commands);
}

std::string statements_html(const Report& report) {
  std::string out =
      "<h2 id=\"statements\">What papers say, on this run</h2>\n<div class=\"whole\" tabindex=\"0\"><table><thead><tr>"
      "<th scope=\"col\">paper</th><th scope=\"col\">statement</th><th scope=\"col\">here</th></tr></thead><tbody>\n";
  for (const Report::Judged& j : report.statements) {
    const char* const kind = j.finding.judgement == Judgement::Holds         ? "good"
                             : j.finding.judgement == Judgement::DoesNotHold ? "bad"
                                                                             : "faint";
    out += fmt::format(
        "<tr><td>{}</td><td>{}<br><span class=\"faint\">Holds if: {}</span></td><td><span class=\"{}\">{}</span><br>{}"
        "</td></tr>\n",
        xml_text(j.statement->paper), xml_text(j.statement->text), xml_text(j.statement->rule), kind,
        name_of(j.finding.judgement), xml_text(j.finding.figures));
  }
  return out + "</tbody></table></div>\n";
}

std::string plot_html(const Plot& plot) {
  std::string out = "<figure><h3>" + xml_text(plot.title) + "</h3>\n<div class=\"plot\" tabindex=\"0\">" + plot.svg +
                    "</div>\n<figcaption>\n";
  out += "<details><summary>Figures</summary>" + table_html(plot.head, plot.rows) + "</details>\n";
  return out + commands_html(plot.commands) + "</figcaption></figure>\n";
}

struct Chapter {
  const char* kind;
  const char* title;
  const char* words;
};
constexpr std::array<Chapter, 5> kChapters{{
    {"boxes", "Latencies by size and peer",
     "Box: 25th to 75th percentile, with the median. Whiskers: 5th to 95th. Dot: 99th. Logarithmic."},
    {"cdf", "Distributions",
     "The share of messages that took at most this time. Lines of one colour differ in their dashes."},
    {"fairness", "Fairness", "From the first reader of a message to the last. Small is fair."},
    {"scaling", "Scaling", "Medians, as messages, readers, links or cameras grow."},
    {"bars", "Pipelines, CPU, memory and rates",
     "Medians. Whisker: the deviation of samples, or the range of the runs."},
}};

std::string all_figures_html(const Report& report) {
  std::vector<std::vector<std::string>> rows;
  for (const Measurement* m : report.measurements) {
    if (m->kept() == 0) continue;
    if (rows.size() >= kMostLines) break;
    const Summary s = summarize(m->pooled());
    rows.push_back({name_of(*m), m->unit, std::to_string(m->runs.size()), std::to_string(s.count), three_digits(s.p50),
                    three_digits(s.p95), three_digits(s.p99), three_digits(s.max)});
  }
  return "<h2 id=\"all\">All figures</h2>\n<details><summary>" + std::to_string(rows.size()) +
         " measurements</summary>" +
         table_html({"measurement", "unit", "runs", "samples", "p50", "p95", "p99", "greatest"}, rows) + "</details>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  std::size_t left_out = 0;
  const std::vector<Plot> plots = plots_of(report.measurements, left_out);
  const std::vector<LinksOfPeer> links = links_of(report.measurements);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      // Nothing of a result can load or run anything, whatever it holds.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>Cardan: benchmark report</title>\n<style>";
  out += kPageStyle;
  out += "</style></head><body>\n<h1>Benchmark report</h1>\n";
  out += fmt::format(
      "<p class=\"faint\">{} measurements{}. Compare peers within this page only: another computer has "
      "other figures.</p>\n",
      report.measurements.size(), report.made.empty() ? "" : " · " + xml_text(report.made));
  out +=
      "<nav aria-label=\"Chapters\"><a href=\"#host\">Computer</a><a href=\"#statements\">Papers</a>"
      "<a href=\"#loss\">Loss</a>";
  if (!links.empty()) out += "<a href=\"#links\">Links</a>";
  for (const Chapter& chapter : kChapters)
    if (std::any_of(plots.begin(), plots.end(), [&](const Plot& p) { return p.kind == chapter.kind; }))
      out += fmt::format("<a href=\"#{}\">{}</a>", chapter.kind, chapter.title);
  out += "<a href=\"#all\">All figures</a></nav>\n<main>\n<h2 id=\"host\">What was measured on what</h2>\n";
  out += hosts_html(*report.results);
  out += noise_html(report) + statements_html(report) + losses_html(report) + links_html(links);
  for (const Chapter& chapter : kChapters) {
    bool first = true;
    for (const Plot& plot : plots) {
      if (plot.kind != chapter.kind) continue;
      if (first)
        out += fmt::format("<h2 id=\"{}\">{}</h2>\n<p class=\"faint\">{}</p>\n", chapter.kind, chapter.title,
                           chapter.words);
      first = false;
      out += plot_html(plot);
    }
  }
  if (left_out > 0) out += fmt::format("<p>{} more plots are left out; their figures are below.</p>\n", left_out);
  return out + all_figures_html(report) + "</main></body></html>\n";
}

}  // namespace cardan::bench
