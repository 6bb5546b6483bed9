// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/crash_details.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace cardan::launcher {
namespace {

constexpr const char* kReport = R"(=== cardan crash report ===
process: p (pid 12), thread main-0 (13)
component: serve
callback: /orders, its call number 2
sample: sequence 812, published at 93814729114 ns
ended by: watchdog
reason: callback '/orders' of component 'serve' has been running for 31.0 ms, its watchdog allows 30.0 ms
signal: SIGABRT (abort)
last samples:
> serve /orders: sequence 812, published 31.000 ms ago, 0 of 64 waiting
stack:
/x/libcomponents.so(_ZN6cardan6detail4Port6invokeEv+0x1a)[0x7f0012345678]
/x/libcomponents.so(servant_faults+0x4)[0x7f0012345679]
/x/libcomponents.so(+0x44)[0x7f001234567a]
reason: not this one
=== end of crash report ===
)";

TEST(CrashDetails, TheReportSaysWhoWhereAndOnWhichSample) {
  const CrashDetails words = read_crash(kReport);
  EXPECT_EQ(words.component, "serve");
  EXPECT_EQ(words.callback, "/orders");
  EXPECT_EQ(words.ended_by, "watchdog");
  EXPECT_TRUE(words.reason.starts_with("callback '/orders' of component 'serve' has been running"));
  ASSERT_TRUE(words.sample());
  EXPECT_EQ(*words.sample(), (PoisonSample{"serve", "/orders", 812, 93814729114}));
  EXPECT_FALSE(
      read_crash("component: none (the thread was in no callback)\nsample: sequence 4, published at 5 ns\n").sample());
  EXPECT_FALSE(read_crash("").sample());
  EXPECT_FALSE(read_crash("component: a\ncallback: b\nsample: sequence many, published at 5 ns\n").sample());
}

TEST(CrashDetails, AWatchdogsEndIsCalledSo) {
  const CrashDetails words = read_crash(kReport);
  EXPECT_EQ(text({.signal = SIGABRT}, words), "was ended by its watchdog: " + words.reason);
  EXPECT_NE(remedy({.signal = SIGABRT}, words).find("watchdog_ms"), std::string::npos);
  EXPECT_EQ(text({.signal = SIGSEGV}, words), "died by signal 11 (Segmentation fault)")
      << "it wrote that, and then crashed";
  EXPECT_EQ(text({.signal = SIGABRT}, read_crash("component: a\n")), "died by signal 6 (Aborted)");
  EXPECT_EQ(text({.exit_code = 3}, words), "ended with exit code 3");
  EXPECT_EQ(text({.signal = SIGSEGV}, read_crash("component: a\nstep: constructor\n")),
            "died by signal 11 (Segmentation fault) in the constructor of component 'a'");
}

TEST(CrashDetails, StacksNameFunctionsAsPeopleDo) {
  const std::string text = demangled(kReport);
  EXPECT_NE(text.find("libcomponents.so(cardan::detail::Port::invoke()+0x1a)[0x7f0012345678]"), std::string::npos)
      << text;
  EXPECT_NE(text.find("(servant_faults+0x4)"), std::string::npos) << text;
  EXPECT_NE(text.find("(+0x44)"), std::string::npos) << text;
  EXPECT_EQ(demangled("(_Z"), "(_Z");
  EXPECT_EQ(demangled("(_ZN6cardan\n"), "(_ZN6cardan\n");
  EXPECT_EQ(demangled("(_Znonsense+0x1)"), "(_Znonsense+0x1)");
}

TEST(CrashDetails, ANameThatWouldBecomeHugeStaysAsItIs) {
  // Each pair is of the one before: 40 of them would be a name of 2⁴⁰ letters.
  std::string bomb = "_Z1fSt4pairIiiE";
  for (int i = 0; i < 40; ++i) {
    std::string digits;
    for (int n = i; n > 0; n /= 36) digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 36]);
    bomb += "S_IS" + digits + "_S" + digits + "_E";
  }
  const std::string line = "lib.so(" + bomb + "+0x1)[0x1]\n";
  EXPECT_EQ(demangled(line), line);
  const std::string longest = "lib.so(_ZN" + std::string(4000, 'x') + "+0x1)\n";
  EXPECT_EQ(demangled(longest), longest);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "(_ZN1a1bEv+1)";
  EXPECT_EQ(demangled(many).substr(0, 9), "(a::b()+1");
  EXPECT_TRUE(demangled(many).ends_with("(_ZN1a1bEv+1)"));
}

TEST(PoisonWatch, TheSecondCrashOnASampleSkipsIt) {
  PoisonWatch watch;
  const PoisonSample bad{"serve", "/orders", 3, 100};
  EXPECT_FALSE(watch.crashed_on(bad));
  EXPECT_FALSE(watch.crashed_on({"serve", "/orders", 4, 100})) << "another sample";
  EXPECT_FALSE(watch.crashed_on({"serve", "/orders", 3, 101})) << "another publisher's";
  EXPECT_FALSE(watch.crashed_on({"other", "/orders", 3, 100}));
  EXPECT_TRUE(watch.skipped().empty());
  EXPECT_TRUE(watch.crashed_on(bad));
  ASSERT_EQ(watch.skipped().size(), 1U);
  EXPECT_EQ(watch.skipped().front(), bad);
  for (std::uint64_t i = 10; i < 1000; ++i)
    for (int twice = 0; twice < 2; ++twice) (void)watch.crashed_on({"serve", "/orders", i, 100});
  EXPECT_EQ(watch.skipped().size(), PoisonWatch::kSkipped);
}

TEST(PoisonWatch, ASampleTravelsAsAnArgument) {
  const PoisonSample sample{"serve", "the orders, in order", 18446744073709551615U, -5};
  EXPECT_EQ(poison_of(to_argument(sample)), sample);
  for (const char* wrong : {"", "serve", "serve 1", "serve 1 2", "serve 1 2 ", "serve x 2 /orders", " 1 2 /orders",
                            "serve 18446744073709551616 2 /orders"})
    EXPECT_FALSE(poison_of(wrong)) << wrong;
}

}  // namespace
}  // namespace cardan::launcher
