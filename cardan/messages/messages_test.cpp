// SPDX-License-Identifier: Apache-2.0
// A standard message is its header and its place in messages.hpp; everything else follows.
#include "cardan/messages/messages.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "cardan/messages/type_layout.hpp"

namespace cardan {
namespace {

template <class F>
void for_each_standard_message(F&& f) {
  [&]<class... T>(detail::MessageList<T...>) { (f.template operator()<T>(), ...); }(detail::StandardMessages{});
}

TEST(StandardMessages, AreKnownByTheirNameAndHash) {
  for_each_standard_message([]<class T>() {
    using Traits = message_traits<T>;
    const auto by_name = known_layout(Traits::type_name());
    ASSERT_NE(by_name, nullptr) << Traits::type_name();
    EXPECT_EQ(by_name->hash(), Traits::type_hash()) << Traits::type_name();
    const auto by_hash = find_layout("", Traits::type_hash(), "");
    EXPECT_EQ(by_hash, by_name) << Traits::type_name();
  });
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(StandardMessages, AreThoseOfTheHeaders) {
  const std::filesystem::path folder = CARDAN_MESSAGES_FOLDER;
  const std::string umbrella = text_of(folder / "messages.hpp");
  const std::regex declaration(R"re(\nCARDAN_MESSAGE\((cardan::\w+), "([^"]+)")re");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".hpp") || file.ends_with("_test.hpp")) continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
      names.insert((*at)[2]);
      EXPECT_NE(umbrella.find("#include \"cardan/messages/" + file + "\""), std::string::npos)
          << "messages.hpp does not include " << file;
      EXPECT_NE(known_layout((*at)[2].str()), nullptr)
          << (*at)[1] << " of " << file << " is not in StandardMessages (messages.hpp)";
    }
  }
  EXPECT_TRUE(names.contains("sensor_msgs/msg/Imu")) << "the headers were not read";
}

}  // namespace
}  // namespace cardan
