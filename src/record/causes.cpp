// SPDX-License-Identifier: Apache-2.0
#include "src/record/causes.hpp"

#include <algorithm>

#include "cardan/cdr_reader.hpp"
#include "cardan/cdr_writer.hpp"

namespace cardan::record {
namespace {

/// The lists of numbers that have one element for each sample, in the order of the message.
template <class C, class F>
bool for_each_list(C& causes, F&& f) {
  return f(causes.publisher) && f(causes.sequence) && f(causes.published_us) && f(causes.age_us) &&
         f(causes.cause_publisher) && f(causes.cause_sequence);
}

template <class Number>
bool read_list(CdrReader& reader, std::vector<Number>& list) {
  std::size_t count = 0;
  if (!reader.count(count, sizeof(Number))) return false;
  list.resize(count);
  return reader.numbers(list.data(), count);
}

bool read_topics(CdrReader& reader, std::vector<std::string>& topics) {
  std::size_t count = 0;
  if (!reader.count(count, 4) || count > Causes::kNoCause) return false;
  topics.resize(count);
  return std::all_of(topics.begin(), topics.end(), [&reader](std::string& topic) {
    std::string_view text;
    if (!reader.string(text) || text.size() > Causes::kLongestTopic) return false;
    topic = text;
    return true;
  });
}

bool holds_together(const Causes& causes) {
  const std::size_t publishers = causes.publishers.size();
  const auto is_place = [publishers](std::uint16_t place) { return place < publishers; };
  return publishers == causes.topics.size() && publishers <= Causes::kNoCause &&
         for_each_list(causes, [&](const auto& list) { return list.size() == causes.samples(); }) &&
         std::all_of(causes.publisher.begin(), causes.publisher.end(), is_place) &&
         std::all_of(causes.cause_publisher.begin(), causes.cause_publisher.end(),
                     [&](std::uint16_t place) { return place == Causes::kNoCause || is_place(place); });
}

}  // namespace

constexpr std::string_view kCausesSchema =
    "# Origin and cause of recorded samples: the lists from publisher on have one element for each sample.\n"
    "int64 stamp_ns           # steady clock of the recording computer; the log time is the same moment\n"
    "uint64 left_out          # samples of the recording so far that no message lists\n"
    "uint64[] publishers      # unique numbers of the publishers of samples and causes; 0: of another user\n"
    "string[] topics          # of each of them; empty: none of its samples is in this message\n"
    "uint16[] publisher       # place in publishers\n"
    "uint32[] sequence        # as in the recorded message\n"
    "int32[] published_us     # after the stamp; the least value: that long before it, or longer\n"
    "uint32[] age_us          # from the origin to the publication; 4294967294: or longer; 4294967295: unknown\n"
    "uint16[] cause_publisher # place in publishers; 65535: it has no cause\n"
    "uint32[] cause_sequence\n";

std::vector<std::byte> cdr_of(const Causes& causes) {
  std::vector<std::byte> bytes, unused;
  CdrWriter writer(bytes, unused, nullptr);
  writer.number(causes.stamp_ns);
  writer.number(causes.left_out);
  const auto list = [&writer](const auto& numbers) {
    writer.count(numbers.size());
    writer.numbers(numbers.data(), numbers.size());
    return true;
  };
  list(causes.publishers);
  writer.count(causes.topics.size());
  for (const std::string& topic : causes.topics) writer.string(topic);
  (void)for_each_list(causes, list);
  return bytes;
}

bool read_causes(mcap::View bytes, Causes& into) {
  CdrReader reader(bytes);
  return reader.number(into.stamp_ns) && reader.number(into.left_out) && read_list(reader, into.publishers) &&
         read_topics(reader, into.topics) &&
         for_each_list(into, [&reader](auto& list) { return read_list(reader, list); }) && reader.finish() &&
         holds_together(into);
}

}  // namespace cardan::record
