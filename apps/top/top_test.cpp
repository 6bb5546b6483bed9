// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "apps/terminal/keys.hpp"
#include "apps/top/state.hpp"

namespace cardan::apps::top {
namespace {

PublisherReport publisher(const std::string& topic, int pid, const std::string& program = "camera_driver") {
  PublisherReport p;
  p.topic = topic;
  p.type = "sensor_msgs/msg/Image";
  p.program = program;
  p.pid = pid;
  p.published = 100;
  return p;
}

TopicFigures topic(const std::string& name, double bytes, std::uint64_t lost = 0) {
  TopicFigures t;
  t.name = name;
  t.type = "sensor_msgs/msg/Image";
  t.rate_hz = bytes / 100;
  t.bytes_per_s = bytes;
  t.lost = t.lost_all = lost;
  Writer writer;
  writer.now = publisher(name, 7);
  t.writers.push_back(writer);
  return t;
}

Figures street() {
  Figures figures;
  figures.seconds = 1;
  figures.topics = {topic("/camera/front", 300), topic("/imu", 100), topic("/lidar", 200, 5)};
  ProcessFigures process;
  process.name = process.program = "camera_driver";
  process.pid = 7;
  process.publishes = 3;
  process.cpu_percent = 12.5;
  figures.processes = {process};
  CallbackFigures callback;
  callback.component = "detector";
  callback.process = "perception";
  callback.pid = 8;
  callback.counts.name = "image";
  callback.counts.topic = "/camera/front";
  figures.callbacks = {callback};
  ChainFigures chain;
  chain.component = "detector";
  chain.process = "perception";
  chain.pid = 8;
  chain.rate_hz = 29.5;
  chain.late_all = 3;
  chain.counts = {.chain = "brake",
                  .from = "/camera/front",
                  .to = "/command",
                  .budget_ns = 60'000'000,
                  .publications = 30,
                  .late = 1,
                  .age = {{60, 30}},
                  .greatest_age = 71'300'000,
                  .hops = {{.component = "detector", .longest = 20, .longest_ns = 41'000'000},
                           {.component = "planner", .longest = 10}}};
  figures.chains = {chain};
  ServiceFigures service;
  service.name = "/map/region";
  service.server = publisher("/map/region?", 9, "map_server");
  service.server.process = "0123456789abcdef";
  service.server.subscribers.resize(1);
  service.server.subscribers[0].name = "planner";
  service.counts = {.taken = 12, .answered = 11, .declined = 1, .longest_ns = 5'000'000, .answer = {{40, 11}}};
  service.rate_hz = 11;
  service.failed = 1;
  service.failed_all = 4;
  figures.services = {service};
  return figures;
}

std::string shown(State& state, Room size = {80, 24}, bool colours = false) {
  std::string all;
  for (const std::string& line : state.screen(size, colours)) all += line + "\n";
  return all;
}

void type(State& state, const std::string& keys) {
  for (const char c : keys) state.press(static_cast<unsigned char>(c));
}

/// Names of topics, from the top of the screen to its bottom.
std::string order(State& state) {
  const std::string all = shown(state);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const char* const name : {"/camera/front", "/imu", "/lidar"})
    if (const std::size_t at = all.find(name); at != std::string::npos) found.emplace_back(at, name);
  std::sort(found.begin(), found.end());
  std::string names;
  for (const auto& [at, name] : found) names += name + " ";
  return names;
}

TEST(Top, TheBusiestComesFirstAndKeysSort) {
  State state(View::Topics);
  state.take(street());
  EXPECT_EQ(order(state), "/camera/front /lidar /imu ");
  EXPECT_NE(shown(state).find("BYTES/s▼"), std::string::npos);
  state.press('r');
  EXPECT_EQ(order(state), "/imu /lidar /camera/front ");
  for (int i = 0; i < 4; ++i) state.press('s');
  EXPECT_NE(shown(state).find("LOST▼"), std::string::npos);
  EXPECT_EQ(order(state).substr(0, 7), "/lidar ");
  for (int i = 0; i < 6; ++i) state.press('S');
  EXPECT_NE(shown(state).find("TOPIC▲"), std::string::npos);
  EXPECT_EQ(order(state), "/camera/front /imu /lidar ");
  state.press('S');  // round: the last column
  EXPECT_NE(shown(state).find("TYPE▲"), std::string::npos);
}

TEST(Top, AFilterKeepsNamesWhateverTheirCase) {
  State state(View::Topics);
  state.take(street());
  type(state, "/LID");
  EXPECT_EQ(order(state), "/lidar ");
  EXPECT_NE(shown(state).find("/LID_"), std::string::npos) << "what is typed is shown";
  type(state, "\x7f\x7f\x7fq");
  EXPECT_FALSE(state.ended()) << "while the user types a filter, q does not end the program";
  EXPECT_NE(shown(state).find("no topics with 'q'"), std::string::npos);
  state.press(kEscape);
  EXPECT_EQ(order(state), "/camera/front /lidar /imu ");
  type(state, "/camera\r");
  EXPECT_EQ(order(state), "/camera/front ");
  EXPECT_NE(shown(state).find("filter 'camera'"), std::string::npos);
  state.press('q');
  EXPECT_TRUE(state.ended());
}

TEST(Top, TheKeysThatDoSomethingAreOnTheScreen) {
  State state(View::Topics);
  state.take(street());
  const auto last = [&](Room size = {120, 24}) { return state.screen(size, false).back(); };
  EXPECT_EQ(state.screen({120, 24}, false).size(), 24U) << "they are at the bottom";
  EXPECT_NE(last().find("Enter details"), std::string::npos);
  EXPECT_NE(last({80, 24}).find("/ filter"), std::string::npos) << "of a narrow terminal, too";
  EXPECT_EQ(last({80, 8}).find("/ filter"), std::string::npos) << "not of a low one";
  state.press('\r');
  EXPECT_NE(last().find("Esc back"), std::string::npos);
  state.press(kEscape);
  state.press('/');
  EXPECT_NE(last().find("Ctrl-U"), std::string::npos);
}

TEST(Top, AColumnIsChosenByItsLetter) {
  State state(View::Topics);
  Figures figures = street();
  figures.topics = {topic("/imu", 5, 0), topic("/camera/front", 1, 7), topic("/lidar", 9, 1)};
  state.take(figures);
  state.press('n');
  EXPECT_EQ(order(state), "/camera/front /imu /lidar ");
  state.press('f');
  EXPECT_EQ(order(state), "/lidar /imu /camera/front ");
  state.press('l');
  EXPECT_EQ(order(state), "/camera/front /lidar /imu ");
  state.press('m');
  EXPECT_EQ(order(state), "/camera/front /lidar /imu ") << "topics have no memory";
  state.press('>');
  state.press('<');
  EXPECT_EQ(order(state), "/camera/front /lidar /imu ");
}

TEST(Top, AProcessThatDoesNotAnswerStaysInTheList) {
  const Figures before = street();
  const auto there = [](int pid) { return pid == 7; };
  Figures now;
  now.problems = {"camera_driver (pid 7) did not answer within 500 ms: it is stopped (SIGSTOP)"};
  keep_silent(now, before.processes, there);
  ASSERT_EQ(now.processes.size(), 1U);
  EXPECT_EQ(now.processes[0].name, "camera_driver");
  State state(View::Processes);
  state.take(now);
  EXPECT_NE(shown(state).find("no answer"), std::string::npos);
  EXPECT_NE(shown(state, {80, 24}, true).find("\x1b["), std::string::npos);

  Figures ended;  // it closed its topics, and answers
  keep_silent(ended, before.processes, there);
  EXPECT_TRUE(ended.processes.empty());
  ended.problems = now.problems;
  keep_silent(ended, before.processes, [](int) { return false; });
  EXPECT_TRUE(ended.processes.empty()) << "it has ended";
  Figures run = street();  // `cardan run` says that it runs
  run.processes[0].state = "running";
  run.problems = now.problems;
  keep_silent(run, before.processes, there);
  ASSERT_EQ(run.processes.size(), 1U);
  EXPECT_EQ(run.processes[0].state, "no answer");
}

TEST(Top, AFilterIsOfALimitedLength) {
  State state(View::Topics);
  state.take(street());
  type(state, "/" + std::string(100'000, 'x'));
  EXPECT_LT(shown(state, {400, 24}).size(), 3000U);
}

TEST(Top, TheMarkFollowsItsLineAndDetailsOpen) {
  State state(View::Topics);
  state.take(street());
  state.press(kDown);
  EXPECT_NE(shown(state).find("> /lidar"), std::string::npos);
  Figures later = street();
  later.topics[2].bytes_per_s = 1000;  // is sorted to the top now
  state.take(later);
  EXPECT_NE(shown(state).find("> /lidar"), std::string::npos);
  state.press('\r');
  EXPECT_NE(shown(state).find("camera_driver (7)"), std::string::npos);
  EXPECT_NE(shown(state).find("1 publisher"), std::string::npos);
  EXPECT_EQ(shown(state).find("1 publishers"), std::string::npos);
  later.topics.pop_back();
  state.take(later);
  EXPECT_NE(shown(state).find("/lidar is gone"), std::string::npos);
  state.press(kEscape);
  EXPECT_EQ(order(state), "/camera/front /imu ");
}

TEST(Top, AWideTerminalShowsRecentRatesAndBars) {
  State topics(View::Topics);
  State processes(View::Processes);
  for (int i = 0; i < 40; ++i) {
    Figures now = street();
    now.topics[0].rate_hz = i;
    now.topics[1].rate_hz = 0;
    now.processes[0].cpu_percent = 45;
    topics.take(now);
    processes.take(now);
  }
  const std::string wide = shown(topics, {200, 50});
  EXPECT_NE(wide.find("RATE, RECENT"), std::string::npos);
  EXPECT_NE(wide.find("▃▃▃▃▃▄▄▄▄▄▅▅▅▅▅▆▆▆▆▆▇▇▇▇▇█████"), std::string::npos) << wide;
  EXPECT_NE(wide.find("▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁"), std::string::npos) << wide;
  EXPECT_NE(shown(processes, {200, 50}).find(" ████▌····· "), std::string::npos) << shown(processes, {200, 50});
  EXPECT_EQ(shown(topics).find("RECENT"), std::string::npos) << "80 columns have no room for it";
  EXPECT_NE(shown(topics).find("LOST"), std::string::npos);
  Figures without = street();
  without.topics.clear();
  topics.take(without);
  topics.take(street());
  EXPECT_EQ(shown(topics, {200, 50}).find("▁▁"), std::string::npos) << "of what was gone, nothing is kept";
}

TEST(Top, EveryViewHasItsDetails) {
  State state(View::Processes);
  state.take(street());
  EXPECT_NE(shown(state).find("12.5"), std::string::npos);
  state.press(kRight);
  EXPECT_NE(shown(state).find("program camera_driver, pid 7"), std::string::npos);
  EXPECT_NE(shown(state).find("/imu"), std::string::npos) << "what it publishes";
  state.press(kLeft);
  state.press('3');
  EXPECT_NE(shown(state).find("detector"), std::string::npos);
  state.press('\n');
  EXPECT_NE(shown(state).find("image of detector, "), std::string::npos);
  EXPECT_NE(shown(state).find("transport: published"), std::string::npos);
  EXPECT_NE(shown(state, {120, 50}).find("chains that end here"), std::string::npos);
  state.press('\t');
  EXPECT_NE(shown(state).find("[4 chains]"), std::string::npos);
  for (const char* const cell : {"brake", "71.3 ms", "60.0 ms", "detector", " 3 "})
    EXPECT_NE(shown(state, {160, 24}).find(cell), std::string::npos) << cell << shown(state, {160, 24});
  state.press('\r');
  EXPECT_NE(shown(state).find("brake from /camera/front to /command"), std::string::npos);
  state.press('5');
  EXPECT_NE(shown(state).find("[5 services]"), std::string::npos);
  for (const char* const cell : {"/map/region", "11", "map_server", " 4 "})
    EXPECT_NE(shown(state, {160, 24}).find(cell), std::string::npos) << cell << shown(state, {160, 24});
  state.press('\r');
  for (const char* const part : {"/map/region, served by map_server", "declined", "5.00 ms", "planner"})
    EXPECT_NE(shown(state, {120, 50}).find(part), std::string::npos) << part << shown(state, {120, 50});
  EXPECT_NE(shown(state).find("planner"), std::string::npos);
  state.press('\t');
  EXPECT_NE(shown(state).find("[1 processes]"), std::string::npos);
}

TEST(Top, HelpAndPause) {
  State state(View::Topics);
  state.take(street());
  state.press('?');
  EXPECT_NE(shown(state).find("filter by name"), std::string::npos);
  state.press('x');
  EXPECT_EQ(shown(state).find("filter by name"), std::string::npos);
  state.press(' ');
  EXPECT_NE(shown(state).find("paused"), std::string::npos);
  state.take({});
  EXPECT_EQ(order(state), "/camera/front /lidar /imu ");
  state.press(' ');
  state.take({});
  EXPECT_NE(shown(state).find("no topics"), std::string::npos);
}

TEST(Top, NoLineIsTooWideAndNoScreenTooHigh) {
  Figures figures = street();
  figures.topics.clear();
  for (int i = 0; i < 1000; ++i)
    figures.topics.push_back(topic("/a/topic/with/a/long/name/" + std::to_string(i), i, i == 3 ? 1 : 0));
  figures.problems = {std::string(500, 'p'), "another"};
  for (const Room size : {Room{80, 24}, Room{20, 5}, Room{1, 1}, Room{3, 3}, Room{200, 50}}) {
    State state(View::Topics);
    state.take(figures);
    for (const char32_t key :
         {U'?', U'?', U'2', U'/', U'a', U'\r', U's', U'\r', U'\x1b', U'1', U'3', U'4', U'5', U'\r'}) {
      state.press(key);
      for (const bool colours : {false, true}) {
        const auto lines = state.screen(size, colours);
        EXPECT_LE(lines.size(), size.rows);
        for (const std::string& line : lines) {
          EXPECT_LE(width_of(line), std::max<std::size_t>(size.columns - 1, 1)) << line;
          EXPECT_EQ(line.find('\n'), std::string::npos);
          if (!colours) {
            EXPECT_EQ(line.find('\x1b'), std::string::npos);
          }
        }
      }
    }
  }
}

TEST(Top, ManyLinesScroll) {
  Figures figures = street();
  figures.topics.clear();
  for (int i = 0; i < 1000; ++i) figures.topics.push_back(topic("/t" + std::to_string(i), 1000 - i));
  State state(View::Topics);
  state.take(figures);
  EXPECT_NE(shown(state).find(" of 1000"), std::string::npos);
  EXPECT_NE(shown(state).find("> /t0 "), std::string::npos);
  state.press(kEnd);
  EXPECT_NE(shown(state).find("> /t999 "), std::string::npos);
  state.press(kPageUp);
  EXPECT_EQ(shown(state).find("> /t999 "), std::string::npos);
  state.press(kHome);
  EXPECT_NE(shown(state).find("> /t0 "), std::string::npos);
}

// Another process's name reaches the terminal as text only.
TEST(Top, HostileNamesAreText) {
  const std::string evil = "/x\x1b]0;owned\x07\x1b[2J\r\n\xff\xe2\x80\xae";
  Figures figures = street();
  figures.topics = {topic(evil, 10)};
  figures.topics[0].type = evil;
  Reader reader;
  reader.now.name = evil;
  figures.topics[0].writers[0].now.program = figures.topics[0].writers[0].now.via = evil;
  figures.topics[0].writers[0].readers = {reader};
  figures.processes[0].name = figures.processes[0].program = figures.processes[0].state = evil;
  figures.processes[0].components = {evil};
  figures.callbacks[0].component = figures.callbacks[0].process = evil;
  figures.callbacks[0].counts.name = figures.callbacks[0].counts.topic = figures.callbacks[0].counts.group = evil;
  figures.chains[0].component = figures.chains[0].process = figures.chains[0].counts.chain = evil;
  figures.chains[0].counts.from = figures.chains[0].counts.to = figures.chains[0].counts.hops[0].component = evil;
  figures.services[0].name = figures.services[0].server.program = figures.services[0].server.process = evil;
  figures.services[0].server.subscribers[0].name = evil;
  figures.problems = {evil};
  State state(View::Topics);
  state.take(figures);
  const auto check = [&] {
    for (const std::string& line : state.screen({200, 50}, false))
      for (const std::string_view bad : {"\x1b", "\x07", "\r", "\n", "\xff", "\xe2\x80\xae"})
        EXPECT_EQ(line.find(bad), std::string::npos) << line;
  };
  for (const char view : {'1', '2', '3', '4', '5'}) {
    state.press(static_cast<unsigned char>(view));
    check();
    state.press('\r');
    check();
    EXPECT_EQ(shown(state).find("is gone"), std::string::npos) << "the details of " << view;
    state.take({});
    check();
    EXPECT_NE(shown(state).find("is gone"), std::string::npos) << "the details of " << view;
    state.press(kEscape);
    state.take(figures);
  }
  type(state, "/\xff\xe2");
  check();
  const std::string json = json_of(figures);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_EQ(json.find('\x1b'), std::string::npos);
}

TEST(Top, ColoursAreOnlyThereWhereWanted) {
  State state(View::Topics);
  state.take(street());
  EXPECT_EQ(shown(state).find('\x1b'), std::string::npos);
  EXPECT_NE(shown(state, {80, 24}, true).find("\x1b[7m"), std::string::npos) << "the chosen line";
  EXPECT_NE(shown(state, {80, 24}, true).find("\x1b[31m"), std::string::npos) << "the line with loss";
}

}  // namespace
}  // namespace cardan::apps::top
