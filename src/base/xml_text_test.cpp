// SPDX-License-Identifier: Apache-2.0
#include "src/base/xml_text.hpp"

#include <gtest/gtest.h>

namespace cardan::detail {
namespace {

TEST(XmlText, LeavesNothingThatOpensAnElementOrEndsAnAttribute) {
  EXPECT_EQ(xml_text("a < b && c > \"d\" 'e'"), "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
  EXPECT_EQ(xml_text("&lt;"), "&amp;lt;");
  EXPECT_EQ(xml_text("µs"), "µs");
  EXPECT_EQ(xml_text(""), "");
}

}  // namespace
}  // namespace cardan::detail
