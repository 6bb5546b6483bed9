// SPDX-License-Identifier: Apache-2.0
// A standard message is its header and its line in standard_messages.hpp; everything else follows.
#include "src/messages/standard_messages.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "cardan/type_layout.hpp"

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
  const std::filesystem::path folder = CARDAN_HEADERS;
  const std::string umbrella = text_of(folder / "messages.hpp");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string file = "cardan/" + entry.path().lexically_relative(folder).string();
    if (!file.ends_with(".hpp") || file.starts_with("cardan/detail/")) continue;
    const std::string text = text_of(entry.path());
    // CARDAN_STANDARD_MESSAGE_(cardan::Image, "sensor_msgs/msg/Image", …
    constexpr std::string_view kDeclaration = "\nCARDAN_STANDARD_MESSAGE_(cardan::";
    EXPECT_EQ(text.find("\nCARDAN_MESSAGE("), std::string::npos) << file;
    for (std::size_t at = text.find(kDeclaration); at != std::string::npos; at = text.find(kDeclaration, at + 1)) {
      const std::size_t begin = text.find('"', at) + 1;
      const std::string name = text.substr(begin, text.find('"', begin) - begin);
      names.insert(name);
      EXPECT_NE(umbrella.find("#include \"" + file + "\""), std::string::npos)
          << "messages.hpp does not include " << file;
      EXPECT_NE(known_layout(name), nullptr)
          << name << " of " << file << " is not in CARDAN_STANDARD_MESSAGES_ (standard_messages.hpp)";
    }
  }
  EXPECT_TRUE(names.contains("sensor_msgs/msg/Imu")) << "the headers were not read";
}

}  // namespace
}  // namespace cardan
