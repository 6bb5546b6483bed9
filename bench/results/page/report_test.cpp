// SPDX-License-Identifier: Apache-2.0
#include "bench/results/page/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "bench/results/page/axis.hpp"
#include "bench/results/page/plots.hpp"
#include "bench/results/page/svg.hpp"
#include "bench/results/read.hpp"
#include "bench/results/synthetic.hpp"
#include "cardan/base/error.hpp"

namespace cardan::bench {
namespace {

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

Result some_result() {
  std::vector<Measurement> all;
  std::uint64_t seed = 1;
  for (const char* peer : {"raw", "cardan", "uds"})
    for (const double bytes : {4096.0, 4.0 * 1024 * 1024}) {
      Measurement m = synthetic({.seed = ++seed, .shift_us = peer[0] == 'u' ? bytes / 1000 : 0, .runs = 3});
      m.peer = peer;
      m.bytes = bytes;
      m.due = 240;
      m.lost = peer[0] == 'u' ? 4 : 0;
      m.command = "cardan bench transport --peers " + m.peer;
      all.push_back(m);
      m.cell = "1p5s";
      m.readers = 5;
      m.quantity = "first to last reader";
      m.due.reset();
      m.lost.reset();
      all.push_back(m);
      m.quantity = "publisher's CPU";
      for (MeasuredRun& run : m.runs) run.samples.resize(1);
      all.push_back(m);
    }
  return result_of(std::move(all));
}

TEST(ReportPage, HasEachChapterAndAsksForNothing) {
  const std::vector<Result> results{some_result()};
  const std::string page = to_html(prepare(results));
  for (const char* id : {"host", "statements", "loss", "boxes", "cdf", "fairness", "scaling", "bars", "all"})
    EXPECT_EQ(count_of(page, std::string(" id=\"") + id + "\""), 1U) << id;
  for (const char* never : {"<script", "http:", "https:", "src=", "@import", "url(", " style=", " on"})
    EXPECT_EQ(page.find(never == std::string(" on") ? " onload" : never), std::string::npos) << never;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_EQ(count_of(page, "<svg "), count_of(page, "</svg>"));
  EXPECT_EQ(count_of(page, "<svg "), count_of(page, "<title id="));
  EXPECT_EQ(count_of(page, "<svg "), count_of(page, "<desc id="));
  EXPECT_EQ(count_of(page, "<figure>"), count_of(page, "<summary>Figures</summary>")) << "a table under each plot";
  EXPECT_NE(page.find("<code>cardan bench transport --peers uds</code>"), std::string::npos);
  EXPECT_NE(page.find("<p>2 measurements lost messages.</p>"), std::string::npos);
  EXPECT_EQ(count_of(page, "Finding "), 7U);
}

TEST(ReportPage, TextsOfAFileAreShownAndNotRun) {
  Result result = some_result();
  const std::string evil = "<script>alert('1')</script>\"><img src=x onerror=alert(1)>";
  for (Measurement& m : result.measurements) {
    m.part += evil;
    m.peer += evil;
    m.setup += evil;
    m.cell += evil;
    m.unit += evil;
    m.command = evil;
  }
  result.measurements[0].quantity += evil;
  result.measurements[0].noisy = true;
  result.host.emplace_back(evil, evil);
  result.source = result.host[0].second = evil;
  result.left_out = result.failures = {evil};
  const std::vector<Result> results{result};
  const std::string page = to_html(prepare(results));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  const std::string markdown = to_markdown(prepare(results));
  EXPECT_EQ(markdown.find("<script"), std::string::npos);
  EXPECT_EQ(markdown.find("<img"), std::string::npos);
}

TEST(ReportPage, SaysWhatDisturbed) {
  std::vector<Result> results{some_result()};
  EXPECT_EQ(to_html(prepare(results)).find("Other programs used"), std::string::npos) << "no part looked";
  for (Measurement& m : results[0].measurements)
    for (MeasuredRun& run : m.runs) run.other_load_percent = 40;
  EXPECT_NE(to_html(prepare(results)).find("<p class=\"bad\">Other programs used 40.0 %"), std::string::npos);
}

TEST(ReportPage, AResultWithoutMeasurementsIsAPageToo) {
  const std::vector<Result> results{result_of({})};
  const std::string page = to_html(prepare(results));
  EXPECT_NE(page.find("Nothing was lost of 0 messages"), std::string::npos);
  EXPECT_EQ(page.find("<svg"), std::string::npos);
  EXPECT_EQ(count_of(page, "not measured in this run"), all_statements().size());
}

// Each has its curve: the median as the number in the cell's name, or the rate, grows.
TEST(ReportPage, CurvesOverTopicsCpuRatesAndLinks) {
  std::vector<Measurement> all;
  const auto add = [&](const char* cell, double rate_hz) {
    Measurement m = synthetic({.runs = 1, .samples = 12});
    m.cell = cell;
    m.rate_hz = rate_hz;
    all.push_back(std::move(m));
  };
  for (const char* cell : {"topics 1", "topics 1000", "1p1s cpu=10", "1p1s cpu=50", "1p1s cpu=20+fifo"}) add(cell, 30);
  for (const double rate : {20.0, 40.0}) add("1p1s work=20", rate);
  for (const char* cell : {"2x1p1s cv cpu=50", "1p1s cv cpu=50", "4x1p1s cv cpu=50"}) add(cell, 50);
  std::vector<const Measurement*> pointers;
  for (const Measurement& m : all) pointers.push_back(&m);
  std::size_t left_out = 0;
  std::size_t points = 0;
  for (const Plot& plot : plots_of(pointers, left_out))
    if (plot.kind == "scaling") points += plot.rows.size();
  EXPECT_EQ(points, 9U) << "of the ten cells one has two conditions";
}

/// A cell of which all frames arrived, at this rate.
void add_cell(std::vector<Measurement>& all, const std::string& cell, double achieved_hz) {
  Measurement m = synthetic({.runs = 1, .samples = 12});
  m.cell = cell;
  m.due = 100;
  m.lost = 0;
  m.command = "cardan bench transport";
  all.push_back(m);
  m.due.reset();
  m.lost.reset();
  m.quantity = kAchievedRate;
  m.unit = "Hz";
  m.runs = {make_run({achieved_hz})};
  all.push_back(m);
}

TEST(ReportPage, AFileWithManyNumbersOfLinksHasFewColumns) {
  std::vector<Measurement> all;
  for (int peer = 0; peer < 10; ++peer) {
    add_cell(all, fmt::format("1p1s {}", peer), 99);
    for (int links = 2; links < 30; ++links) add_cell(all, fmt::format("{}x1p1s {}", links, peer), 99);
  }
  const std::vector<Result> results{result_of(std::move(all))};
  const std::string page = to_html(prepare(results));
  const auto head = page.find("<th", page.find("id=\"links\""));
  const std::string columns = page.substr(head, page.find("</thead>", head) - head);
  EXPECT_EQ(count_of(columns, " at once"), 16U) << columns;
}

TEST(ReportPage, SaysHowManyLinksAPeerSustains) {
  std::vector<Measurement> all;
  add_cell(all, "1p1s cv cpu=100", 99);
  add_cell(all, "2x1p1s cv cpu=100", 80);
  const std::vector<Result> results{result_of(std::move(all))};
  const std::string page = to_html(prepare(results));
  EXPECT_EQ(count_of(page, "id=\"links\""), 1U);
  EXPECT_NE(page.find("at least 99 % of the frames arrived"), std::string::npos);
  EXPECT_NE(
      page.find(
          "<td>cardan block</td><td class=\"n\">1</td><td class=\"n\">100 % at 99.0 Hz</td><td class=\"n\">100 % at "
          "80.0 Hz</td>"),
      std::string::npos);
  const std::string markdown = to_markdown(prepare(results));
  EXPECT_NE(markdown.find("at least 95 % of the asked one"), std::string::npos);
  EXPECT_NE(markdown.find("| cardan block | **1** | 1: 100 % at 99.0 Hz; 2: 100 % at 80.0 Hz |"), std::string::npos)
      << markdown;
  const std::vector<Result> without{some_result()};
  EXPECT_EQ(to_html(prepare(without)).find("#links"), std::string::npos);
  EXPECT_EQ(to_markdown(prepare(without)).find("sustained"), std::string::npos);
}

// A stage's peers are compared with each other, so they stand below each other, whichever was measured first.
TEST(ReportPage, BarsOfACellStandTogether) {
  std::vector<Measurement> all;
  for (const char* peer : {"raw", "cardan", "uds"})
    for (const char* stage : {"lane", "detector"}) {
      Measurement m = synthetic({.runs = 1, .samples = 12});
      m.part = "pipeline";
      m.peer = peer;
      m.cell = stage;
      m.quantity = "processing";
      all.push_back(std::move(m));
    }
  std::vector<const Measurement*> pointers;
  for (const Measurement& m : all) pointers.push_back(&m);
  std::size_t left_out = 0;
  const std::vector<Plot> plots = plots_of(pointers, left_out);
  const auto bars = std::find_if(plots.begin(), plots.end(), [](const Plot& p) { return p.kind == "bars"; });
  ASSERT_NE(bars, plots.end());
  EXPECT_EQ(count_of(bars->svg, "class=\"section\""), 2U) << bars->svg;
  ASSERT_EQ(bars->rows.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(bars->rows[i][1], bars->rows[i % 3][1]) << i;
}

// The foot of a plot of sixty rows is below the screen.
TEST(ReportPage, ATallPlotRepeatsTheValuesOfItsAxis) {
  const auto names_of_ticks = [](int rows_of_section) {
    std::vector<Box> boxes;
    for (const char* section : {"4 KiB", "4 MiB", "8 MiB"})
      for (int row = 0; row < rows_of_section; ++row) boxes.push_back({section, "peer", 0, 1, 2, 3, 4, 5, 99});
    return count_of(box_plot({"plot", "title", "what it shows", "transport, us"}, boxes), "class=\"tick\"");
  };
  const std::size_t once = names_of_ticks(2);
  ASSERT_GE(once, 2U);
  EXPECT_EQ(names_of_ticks(20), 4 * once) << "above each section and at the foot";
}

TEST(ReportPage, AnAxisOfCountsHasNoFractions) {
  const auto svg = [](double last) {
    return line_plot({"plot", "title", "what it shows", "share, %"}, {{"peer", 0, 0, {{1, 5}, {last, 6}}}},
                     {"cameras", false, false});
  };
  EXPECT_EQ(svg(2).find(">1.2<"), std::string::npos) << svg(2);
  EXPECT_NE(svg(2).find(">2<"), std::string::npos) << svg(2);
  EXPECT_NE(svg(2.1).find(">1.2<"), std::string::npos) << svg(2.1);
}

TEST(ReportPage, FiguresWithoutASpreadOrALogarithmAreDrawn) {
  std::vector<Measurement> all;
  for (const double value : {0.0, -5.0, 7.0, 1e15}) {
    Measurement m = synthetic({.runs = 1, .samples = 12});
    m.peer = "peer " + std::to_string(value);
    for (double& sample : m.runs[0].samples) sample = value;
    all.push_back(std::move(m));
  }
  const std::vector<Result> results{result_of(std::move(all))};
  const std::string page = to_html(prepare(results));
  EXPECT_EQ(page.find("nan"), std::string::npos);
  EXPECT_EQ(page.find("inf\""), std::string::npos);
  EXPECT_GE(count_of(page, "<svg "), 2U);
}

TEST(ReportPage, StaysBoundedWithManyCells) {
  std::vector<Measurement> all;
  for (int i = 0; i < 3000; ++i) {
    Measurement m = synthetic({.runs = 1, .samples = 10});
    (i % 2 == 0 ? m.cell : m.peer) = "x" + std::to_string(i);
    all.push_back(std::move(m));
  }
  std::size_t left_out = 0;
  std::vector<const Measurement*> pointers;
  for (const Measurement& m : all) pointers.push_back(&m);
  std::map<std::string, std::size_t> plots;
  for (const Plot& plot : plots_of(pointers, left_out)) ++plots[plot.kind];
  EXPECT_EQ(plots["boxes"], kMostPlots) << "each kind has its own limit, so that none takes the place of the others";
  for (const auto& [kind, count] : plots) EXPECT_LE(count, kMostPlots) << kind;
  EXPECT_GT(left_out, 1000U);
  const std::vector<Result> results{result_of(std::move(all))};
  EXPECT_LT(to_html(prepare(results)).size(), 8U << 20U);
}

TEST(ReportPage, RefusesAMeasurementOfTwoFiles) {
  const std::vector<Result> results{some_result(), some_result()};
  EXPECT_THROW(static_cast<void>(prepare(results)), Error);
}

TEST(ReportPage, IsWrittenWithItsSummaryAndOneFileOfAll) {
  const auto folder = std::filesystem::temp_directory_path() / ("cardan-page-" + std::to_string(::getpid()));
  Result other = result_of({synthetic({.seed = 9})});
  other.measurements[0].part = "record";
  write_report({some_result(), other}, (folder / "deep").string());
  EXPECT_EQ(read_result((folder / "deep" / "results.json").string()).measurements.size(), 19U);
  std::ifstream in(folder / "deep" / "summary.md");
  std::stringstream summary;
  summary << in.rdbuf();
  EXPECT_NE(summary.str().find("| transport | 1p1s | 4 KiB, 100 Hz | uds block | transport, us |"), std::string::npos)
      << summary.str();
  EXPECT_NE(summary.str().find("Finding 7"), std::string::npos);
  std::filesystem::remove_all(folder);
  EXPECT_THROW(write_report({some_result()}, "/proc/nowhere"), Error);
}

TEST(Measurement, SizesAreNamedAsPapersNameThem) {
  for (const auto& [bytes, name] : std::vector<std::pair<double, std::string>>{{0, ""},
                                                                               {128, "128 B"},
                                                                               {1000, "1 kB"},
                                                                               {4096, "4 KiB"},
                                                                               {921'600, "900 KiB"},
                                                                               {1'327'176, "1327176 B"},
                                                                               {4e6, "4 MB"},
                                                                               {4.0 * 1024 * 1024, "4 MiB"}})
    EXPECT_EQ(name_of_size(bytes), name);
}

TEST(Axis, TicksAreRoundAndInOrder) {
  for (const auto& [low, high] : {std::pair{1.0, 9000.0}, {95.0, 130.0}, {0.3, 0.4}, {1e-3, 1e9}}) {
    for (const bool logarithmic : {true, false}) {
      const Axis axis({low, high}, logarithmic, 0, 100);
      const auto ticks = axis.ticks();
      ASSERT_GE(ticks.size(), 2U) << low << ' ' << high << ' ' << logarithmic;
      EXPECT_LE(ticks.size(), 13U);
      EXPECT_TRUE(std::is_sorted(ticks.begin(), ticks.end()));
      EXPECT_LT(axis.at(low), axis.at(high));
      EXPECT_GE(axis.at(low), 0);
      EXPECT_LE(axis.at(high), 100);
    }
  }
}

}  // namespace
}  // namespace cardan::bench
