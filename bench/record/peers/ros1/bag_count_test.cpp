// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/ros1/bag_count.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>

#include "bench/temporary_folder.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::recording {
namespace {

template <class T>
std::string bytes_of(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
std::string block(const std::string& text) { return bytes_of(static_cast<std::uint32_t>(text.size())) + text; }
std::string record(const std::map<std::string, std::string>& fields, const std::string& data) {
  std::string header;
  for (const auto& [name, value] : fields) header += block(std::string(name).append("=").append(value));
  return block(header) + block(data);
}

class BagCount : public testing::Test {
 protected:
  // As rosbag writes it: a header, chunks (here some bytes that nobody reads), connections, and an info for each chunk.
  std::string bag(bool closed) {
    const std::string chunks(100, 'x');
    const auto header = [&](std::uint64_t index) {
      return "#ROSBAG V2.0\n" + record({{"op", "\x03"},
                                        {"index_pos", bytes_of(index)},
                                        {"conn_count", bytes_of(std::uint32_t{2})},
                                        {"chunk_count", bytes_of(std::uint32_t{2})}},
                                       std::string(50, ' '));
    };
    const std::uint64_t index = header(0).size() + chunks.size();
    return header(closed ? index : 0) + chunks + record({{"op", "\x07"}, {"topic", "/a"}}, "connection") +
           info({{0, 30}, {1, 4}}) + info({{0, 7}});
  }
  static std::string info(const std::map<std::uint32_t, std::uint32_t>& counts) {
    std::string data;
    for (const auto& [connection, count] : counts) data += bytes_of(connection) + bytes_of(count);
    return record({{"op", "\x06"}, {"ver", bytes_of(std::uint32_t{1})}, {"count", bytes_of(std::uint32_t{1})}}, data);
  }
  std::string written(const std::string& content) {
    const std::string path = folder_.path() + "/a.bag";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  TemporaryFolder folder_{"cardan-bench-test"};
};

TEST_F(BagCount, AddsUpItsIndex) { EXPECT_EQ(count_bag_messages(written(bag(true))), 41U); }

TEST_F(BagCount, UnclosedBagsAndOtherFilesAreErrors) {
  EXPECT_THROW(static_cast<void>(count_bag_messages(written(bag(false)))), Error);
  EXPECT_THROW(static_cast<void>(count_bag_messages(written("#ROSBAG V1.2\n"))), Error);
  EXPECT_THROW(static_cast<void>(count_bag_messages(written(""))), Error);
  EXPECT_THROW(static_cast<void>(count_bag_messages(folder_.path() + "/nothing.bag")), Error);
}

TEST_F(BagCount, CutAnywhereItDoesNotCrash) {
  const std::string whole = bag(true);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::string path = written(whole.substr(0, bytes));
    try {
      EXPECT_LE(count_bag_messages(path), 41U);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace cardan::bench::recording
