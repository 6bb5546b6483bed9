// SPDX-License-Identifier: Apache-2.0
// The details of a line of `cardan top`.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apps/component/component_chains.hpp"
#include "apps/terminal/output.hpp"
#include "apps/top/sheets.hpp"
#include "cardan/clock.hpp"

namespace cardan::apps::top {
namespace {

/// Lines of a page, none of them wider than the terminal.
class Page {
 public:
  explicit Page(std::size_t columns) : columns_(columns) {}

  void text(const std::string& line) { lines_.push_back(cut(line, columns_)); }
  void table(const std::string& title, const Table& table) {
    lines_.emplace_back();
    text(title);
    for (std::string& line : table.lines({columns_, std::numeric_limits<std::size_t>::max()}))
      lines_.push_back(std::move(line));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::size_t columns_;
  std::vector<std::string> lines_;
};

std::string who(const std::string& program, int pid) { return fmt::format("{} ({})", printable(program), pid); }

std::string percentile(const LatencyHistogram& histogram, double percent) {
  return time_text(static_cast<double>(latency_percentile(histogram, percent)));
}

std::string both(const LatencyHistogram& histogram) {
  return histogram.empty() ? "-" : percentile(histogram, 50) + " / " + percentile(histogram, 99);
}

void add_reader(Table& table, const std::string& first, const Reader& reader, double seconds) {
  table.row({first, seconds > 0 ? count_text(static_cast<double>(reader.received) / seconds) : "-",
             percentile(reader.latency, 50), percentile(reader.latency, 99), std::to_string(reader.now.received),
             std::to_string(reader.now.missed), std::to_string(reader.now.bad),
             reader.now.demoted    ? "behind"
             : reader.now.reliable ? "reliable"
                                   : "best effort"});
}

Table readers_table(const char* first) {
  Table table({{first},
               {"RATE Hz", true},
               {"p50", true},
               {"p99", true},
               {"RECEIVED", true},
               {"MISSED", true},
               {"BAD", true},
               {"DELIVERY"}});
  table.trouble({"MISSED", "BAD"});
  table.keep({first, "RATE Hz", "p99", "RECEIVED"});
  return table;
}

Table writers_table(const char* first) {
  Table table({{first},
               {"RATE Hz", true},
               {"BYTES/s", true},
               {"PUBLISHED", true},
               {"LAST", true},
               {"LONGEST GAP", true},
               {"SLOTS", true},
               {"MEMORY", true},
               {"DELIVERY"}});
  table.keep({first, "RATE Hz", "BYTES/s", "PUBLISHED", "LAST"});
  return table;
}

void add_writer(Table& table, const std::string& first, const Writer& writer, double seconds) {
  const PublisherReport& p = writer.now;
  table.row(
      {first, seconds > 0 ? count_text(writer.rate_hz) : "-", bytes_text(writer.bytes_per_s),
       std::to_string(p.published),
       p.published == 0 ? "-" : time_text(static_cast<double>(steady_now() - p.heartbeat_ns)),
       p.published == 0 ? "-" : time_text(static_cast<double>(p.longest_gap_ns)), std::to_string(p.slots),
       bytes_text(static_cast<double>(p.area_bytes)),
       fmt::format("{}{}", p.reliable ? "reliable" : "best effort", p.via.empty() ? "" : ", via " + printable(p.via))});
}

std::vector<std::string> gone(const std::string& what) { return {what + " is gone — Esc goes back"}; }

std::vector<std::string> topic_page(const Figures& figures, const std::string& id, std::size_t columns) {
  const auto topic =
      std::find_if(figures.topics.begin(), figures.topics.end(), [&](const TopicFigures& t) { return t.name == id; });
  if (topic == figures.topics.end()) return gone(printable(id));
  Page page(columns);
  page.text(fmt::format("{}  {}", printable(topic->name), printable(topic->type)));
  Table writers = writers_table("PUBLISHER");
  Table readers = readers_table("SUBSCRIBER");
  std::size_t left_out = 0;
  for (const Writer& writer : topic->writers) {
    add_writer(writers, who(writer.now.program, writer.now.pid), writer, figures.seconds);
    for (const Reader& reader : writer.readers)
      add_reader(readers, who(reader.now.name, reader.now.pid), reader, figures.seconds);
    left_out += writer.now.left_out;
  }
  page.table(number_of(topic->writers.size(), "publisher"), writers);
  page.table(fmt::format("{}, {} lost since this view began", number_of(topic->readers, "subscriber"), topic->lost_all),
             readers);
  if (left_out != 0) page.text(fmt::format("and {} more, for which the answer has no room", left_out));
  return page.take();
}

void add_callback(Table& table, const CallbackFigures& c, double seconds) {
  const host::CallbackReport& x = c.counts;
  table.row({printable(c.component), printable(x.name), seconds > 0 ? count_text(c.rate_hz) : "-", both(x.transport),
             both(x.waiting), both(x.running), time_text(static_cast<double>(x.longest_running)),
             std::to_string(c.lost_all), std::to_string(c.failed_all)});
}

Table callbacks_table() {
  Table table({{"COMPONENT"},
               {"CALLBACK"},
               {"RATE Hz", true},
               {"TRANSPORT", true},
               {"WAITING", true},
               {"RUNNING", true},
               {"LONGEST", true},
               {"LOST", true},
               {"FAILED", true}});
  table.trouble({"LOST", "FAILED"});
  table.keep({"COMPONENT", "CALLBACK", "RATE Hz", "RUNNING"});
  return table;
}

Table chains_table() {
  Table table({{"COMPONENT"},
               {"CHAIN"},
               {"FROM → TO"},
               {"RATE Hz", true},
               {"AGE", true},
               {"GREATEST", true},
               {"BUDGET", true},
               {"LATE", true},
               {"SLOWEST"}});
  table.trouble({"LATE"});
  table.keep({"COMPONENT", "CHAIN", "AGE", "BUDGET", "LATE", "SLOWEST"});
  return table;
}

std::string time_or_none(std::int64_t ns) { return ns == 0 ? "-" : time_text(static_cast<double>(ns)); }

void add_chain(Table& table, const ChainFigures& c, double seconds) {
  const host::ChainReport& x = c.counts;
  const host::ChainHopReport* const slowest = slowest_of(x);
  table.row({printable(c.component), printable(x.chain), printable(x.from + " → " + x.to),
             seconds > 0 ? count_text(c.rate_hz) : "-", both(x.age), time_or_none(x.greatest_age),
             time_or_none(x.budget_ns), std::to_string(c.late_all),
             slowest == nullptr ? "-" : printable(slowest->component)});
}

/// The chains that end in those of a process, or in one component.
template <class IsOf>
void add_chains(Page& page, const Figures& figures, IsOf is_of) {
  Table chains = chains_table();
  std::size_t count = 0;
  for (const ChainFigures& c : figures.chains)
    if (is_of(c)) {
      add_chain(chains, c, figures.seconds);
      ++count;
    }
  if (count != 0) page.table("chains that end here, ages p50 / p99", chains);
}

std::vector<std::string> process_page(const Figures& figures, const std::string& id, std::size_t columns) {
  const auto process = std::find_if(figures.processes.begin(), figures.processes.end(), [&](const ProcessFigures& p) {
    return id == (p.pid != 0 ? std::to_string(p.pid) : "down " + p.name);
  });
  if (process == figures.processes.end()) return gone("process " + printable(id));
  Page page(columns);
  page.text(fmt::format("{}, program {}, pid {}{}", printable(process->name),
                        process->program.empty() ? "-" : printable(process->program), process->pid,
                        process->state.empty() ? "" : ", " + printable(process->state)));
  if (process->pid == 0) return page.take();  // what a pid has does not belong to what is down
  page.text(fmt::format(
      "CPU {}, memory {}, {} restarts", process->cpu_percent < 0 ? "-" : fmt::format("{:.1f} %", process->cpu_percent),
      process->memory_bytes == 0 ? "-" : bytes_text(static_cast<double>(process->memory_bytes)), process->restarts));
  Table writers = writers_table("PUBLISHES");
  Table readers = readers_table("SUBSCRIBES");
  Table calls = callbacks_table();
  for (const TopicFigures& topic : figures.topics)
    for (const Writer& writer : topic.writers) {
      if (writer.now.pid == process->pid) add_writer(writers, printable(topic.name), writer, figures.seconds);
      for (const Reader& reader : writer.readers)
        if (reader.now.pid == process->pid)
          add_reader(readers, fmt::format("{} ← {}", printable(topic.name), who(writer.now.program, writer.now.pid)),
                     reader, figures.seconds);
    }
  for (const CallbackFigures& c : figures.callbacks)
    if (c.pid == process->pid) add_callback(calls, c, figures.seconds);
  if (process->publishes != 0) page.table(number_of(process->publishes, "publisher"), writers);
  if (process->subscribes != 0) page.table(number_of(process->subscribes, "subscriber"), readers);
  if (!process->components.empty()) page.table("callbacks, latencies p50 / p99", calls);
  add_chains(page, figures, [&](const ChainFigures& c) { return c.pid == process->pid; });
  return page.take();
}

std::vector<std::string> callback_page(const Figures& figures, const std::string& id, std::size_t columns) {
  const auto found = std::find_if(figures.callbacks.begin(), figures.callbacks.end(),
                                  [&](const CallbackFigures& c) { return c.component + '\n' + c.counts.name == id; });
  if (found == figures.callbacks.end()) return gone(printable(id));
  const host::CallbackReport& x = found->counts;
  Page page(columns);
  page.text(fmt::format("{} of {}, {}{}{}", printable(x.name), printable(found->component), host::name_of(x.kind),
                        x.topic.empty() ? "" : " of ", printable(x.topic)));
  page.text(fmt::format("process {}, group {}, priority {}", who(found->process, found->pid), printable(x.group),
                        x.priority));
  if (x.running_since != 0)
    page.text(fmt::format("it has been running for {}", time_text(static_cast<double>(x.running_since))));
  Table latencies({{"LATENCY"}, {"p50", true}, {"p95", true}, {"p99", true}, {"LONGEST EVER", true}});
  const auto row = [&](const char* name, const LatencyHistogram& histogram, std::int64_t longest) {
    latencies.row({name, percentile(histogram, 50), percentile(histogram, 95), percentile(histogram, 99),
                   histogram.empty() && longest == 0 ? "-" : time_text(static_cast<double>(longest))});
  };
  row("transport: published → in the queue", x.transport, x.longest_transport);
  row("waiting: in the queue, or due → started", x.waiting, x.longest_waiting);
  row("running: started → done", x.running, x.longest_running);
  if (!x.age.empty()) row("age: oldest ground published → started", x.age, x.greatest_age);
  page.table(fmt::format("{} calls/s, CPU {}", count_text(found->rate_hz),
                         found->busy_percent < 0 ? "-" : fmt::format("{:.1f} %", found->busy_percent)),
             latencies);
  Table counts({{"WITHIN THIS MEASUREMENT"}, {"", true}});
  for (const auto& [what, count] : {std::pair{"pushed out of the queue", x.queue_full},
                                    {"dropped, because the component keeps too many", x.kept},
                                    {"missed before they arrived", x.missed},
                                    {"skipped after crashes", x.skipped},
                                    {"questions without an answer", x.unanswered},
                                    {"exceptions", x.failures},
                                    {"periods of the timer that were over", x.overruns},
                                    {"deadlines missed by publishers", x.late}})
    counts.row({what, std::to_string(count)});
  page.table(fmt::format("queue {} of {}, {} lost and {} failed since this view began", x.queued, x.capacity,
                         found->lost_all, found->failed_all),
             counts);
  add_chains(page, figures,
             [&](const ChainFigures& c) { return c.component == found->component && c.pid == found->pid; });
  return page.take();
}

std::vector<std::string> chain_page(const Figures& figures, const std::string& id, std::size_t columns) {
  const auto found = std::find_if(figures.chains.begin(), figures.chains.end(),
                                  [&](const ChainFigures& c) { return c.component + '\n' + c.counts.chain == id; });
  if (found == figures.chains.end()) return gone(printable(id));
  const host::ChainReport& x = found->counts;
  Page page(columns);
  page.text(fmt::format("{} from {} to {}, {}", printable(x.chain), printable(x.from), printable(x.to),
                        x.budget_ns == 0 ? "without a budget" : "budget " + time_or_none(x.budget_ns)));
  page.text(fmt::format("ends in {}, process {}", printable(found->component), who(found->process, found->pid)));
  if (x.late_ago_ns >= 0)
    page.text(fmt::format("late for the last time {} ago", time_text(static_cast<double>(x.late_ago_ns))));
  Table ages({{"AGE"}, {"p50", true}, {"p95", true}, {"p99", true}, {"GREATEST EVER", true}});
  ages.row({"from the oldest publication at the beginning", percentile(x.age, 50), percentile(x.age, 95),
            percentile(x.age, 99), time_or_none(x.greatest_age)});
  page.table(fmt::format("{} publications/s, {} late since this view began, {} of unknown age in this measurement",
                         count_text(found->rate_hz), found->late_all, x.unknown),
             ages);
  Table hops({{"COMPONENT"}, {"TOOK LONGEST", true}, {"OF LATE ONES", true}, {"LONGEST EVER", true}});
  for (const host::ChainHopReport& hop : x.hops)
    hops.row({printable(hop.component), std::to_string(hop.longest), std::to_string(hop.late),
              time_or_none(hop.longest_ns)});
  if (!x.hops.empty()) page.table("components that took longest, times in this measurement", hops);
  return page.take();
}

std::vector<std::string> service_page(const Figures& figures, const std::string& id, std::size_t columns) {
  const auto found = std::find_if(figures.services.begin(), figures.services.end(),
                                  [&](const ServiceFigures& s) { return s.name + '\n' + s.server.process == id; });
  if (found == figures.services.end()) return gone(printable(id));
  const ServiceReport& r = found->counts;
  Page page(columns);
  page.text(fmt::format("{}, served by {}", printable(found->name), who(found->server.program, found->server.pid)));
  Table times({{"FROM ASKED TO ANSWERED"}, {"p50", true}, {"p95", true}, {"p99", true}, {"LONGEST EVER", true}});
  times.row(
      {"", percentile(r.answer, 50), percentile(r.answer, 95), percentile(r.answer, 99), time_or_none(r.longest_ns)});
  page.table(fmt::format("{} answers/s, {} questions failed since this view began", count_text(found->rate_hz),
                         found->failed_all),
             times);
  Table counts({{"WITHIN THIS MEASUREMENT"}, {"", true}});
  for (const auto& [what, count] : {std::pair{"questions that the server took", r.taken},
                                    {"answered", r.answered},
                                    {"declined, or dropped by the server", r.declined},
                                    {"overdue or cancelled before the server took them", r.expired}})
    counts.row({what, std::to_string(count)});
  page.table("questions", counts);
  Table clients({{"CLIENT"}, {"PID", true}});
  for (const SubscriberReport& client : found->server.subscribers)
    clients.row({printable(client.name), std::to_string(client.pid)});
  const std::size_t count = found->server.subscribers.size() + found->server.left_out;
  if (count != 0) page.table(number_of(count, "client"), clients);
  return page.take();
}

}  // namespace

std::vector<std::string> details_of(const Figures& figures, View view, const std::string& id, std::size_t columns) {
  switch (view) {
    case View::Processes:
      return process_page(figures, id, columns);
    case View::Topics:
      return topic_page(figures, id, columns);
    case View::Callbacks:
      return callback_page(figures, id, columns);
    case View::Chains:
      return chain_page(figures, id, columns);
    case View::Services:
      break;
  }
  return service_page(figures, id, columns);
}

}  // namespace cardan::apps::top
