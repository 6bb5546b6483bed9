// SPDX-License-Identifier: Apache-2.0
// A subscriber of another user that does all it can, together with a publisher and an honest subscriber that play
// ping-pong: they neither crash, hang nor miss a wake-up, and see no torn frame. As an ordinary user the attacker is
// the same user, and does no more than it could to others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <deque>

#include "cardan/error.hpp"
#include "tests/hostile/attack.hpp"

namespace {

using namespace std::chrono_literals;
using namespace cardan::test;
using cardan::Fd;
using cardan::detail::Area;
namespace layout = cardan::layout;

long futex_call(const void* at, int op, unsigned long value, unsigned long value2, const void* other,
                std::uint32_t value3) {
  return ::syscall(SYS_futex, at, op, value, value2, other, value3);
}

}  // namespace

CARDAN_ROLE(echo) {
  cardan::Publisher<Big> out{kPong};
  cardan::Subscriber<Big> in{kPing};
  cardan::test::say("ready");
  while (!cardan::test::heard()) {
    const auto sample = in.wait(100ms);
    if (!sample) continue;
    if (!cardan::test::intact(sample) || cardan::test::writer_of(sample->key) != 1) cardan::test::say("torn");
    if (sample.sequence() % 4 == 0 && !cardan::test::publish_next(out, sample.sequence(), kPingWords))
      cardan::test::say("no slot");
  }
  return 0;
}

CARDAN_ROLE(scribble) {
  return keep_attacking([](Attack& a, auto& random) {
    for (int i = 0; i < 64; ++i) {
      const std::size_t at = random() % (kPageBytes / 8);
      reinterpret_cast<std::atomic<std::uint64_t>*>(a.page.data())[at].store(random(), std::memory_order_relaxed);
    }
  });
}

CARDAN_ROLE(extremes) {
  return keep_attacking([](Attack& a, auto& random) {
    auto& w = a.words();
    static constexpr std::uint64_t kValues[] = {
        0, 1, 0x0101010101010101, 0x7fffffffffffffff, 0x8000000000000000, ~std::uint64_t{0}};
    const std::uint64_t v = kValues[random() % std::size(kValues)];
    w.waiting = static_cast<std::uint32_t>(v);
    w.prewake = static_cast<std::uint32_t>(v);
    w.armed = static_cast<std::uint32_t>(random());
    w.cursor = v;
    w.progress = static_cast<std::uint32_t>(random());
    for (auto& h : w.hold) h = v;
    for (auto& l : w.latency) l = 0xffffffff;
    w.magic = v;
    if (random() % 64 == 0) a.peer->send(handshake::List{});
  });
}

CARDAN_ROLE(ten_thousand) {  // connections, with the largest allowed number open at once
  const Target target = target_of("/ping");
  std::deque<RawPeer> open;
  cardan::test::say("attached");
  int made = 0;
  for (; made < 10'000 || !cardan::test::heard(); ++made) {
    RawPeer peer(target.socket);
    if (!peer) {
      std::this_thread::sleep_for(1ms);
      if (cardan::test::heard() && made > 3000) break;
    } else {
      if (made % 3 == 0) peer.send(handshake::Hello{});
      if (made % 7 == 0) peer.send(std::string(1000, '['));
      open.push_back(std::move(peer));
    }
    if (open.size() > 900) open.pop_front();
  }
  cardan::test::say("made " + std::to_string(made));
  return 0;
}

CARDAN_ROLE(never_reads) {
  return keep_attacking([](Attack& a, auto&) {
    for (int i = 0; i < 32; ++i) a.peer->send(handshake::List{});
    for (int i = 0; i < 32; ++i) a.peer->send(attach_to_ping(target_of("/ping"), 100000));
  });
}

CARDAN_ROLE(odd_notify) {  // a pipe, a file, a blocking socket, a full one, a listening one: and the publisher is asked
                           // to ring them without end
  int kind = 0;
  return keep_attacking([&](Attack& a, auto&) {
    static std::vector<Fd> kept;
    int pair[2] = {-1, -1};
    switch (kind++ % 6) {
      case 0:
        if (::pipe(pair) != 0) return;
        break;
      case 1: {
        char name[] = "/tmp/cardan-test-odd-XXXXXX";
        pair[0] = ::mkstemp(name);
        ::unlink(name);
        break;
      }
      case 2:
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return;
        break;
      case 3:
        if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) return;
        while (::send(pair[1], "x", 1, MSG_DONTWAIT) == 1) {
        }
        break;
      case 4:
        pair[0] = ::socket(AF_INET, SOCK_STREAM, 0);
        pair[1] = ::socket(AF_NETLINK, SOCK_RAW, 0);
        break;
      default:
        pair[0] = ::open("/dev/zero", O_RDWR);
    }
    a.peer->send(handshake::Notify{1}, {pair[1] >= 0 ? pair[1] : pair[0]});
    for (int i = 0; i < 20'000; ++i) a.words().armed.fetch_add(1);
    kept.emplace_back(pair[0]);
    kept.emplace_back(pair[1]);
    if (kept.size() > 100) kept.clear();
    a = attach();  // only the first descriptor of an attachment counts
    while (!a.connected() && !cardan::test::heard()) a = attach();
  });
}

CARDAN_ROLE(futexes) {
  std::vector<std::pair<const char*, std::size_t>> maps;
  return keep_attacking([&](Attack& a, auto&) {
    if (maps.empty())
      for (const auto& fd : a.fds) {
        struct stat st{};
        ::fstat(fd.get(), &st);
        const std::size_t bytes = std::min<std::size_t>(static_cast<std::size_t>(st.st_size), 65536);
        maps.emplace_back(static_cast<const char*>(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0)), bytes);
      }
    for (const auto& [at, bytes] : maps)
      for (std::size_t i = 0; i < bytes; i += 64) {
        futex_call(at + i, FUTEX_WAKE, 1, 0, nullptr, 0);
        futex_call(at + i, FUTEX_REQUEUE, 0, 1000, maps[0].first + 4, 0);
        futex_call(at + i, FUTEX_CMP_REQUEUE, 0, 1000, maps[0].first + 8,
                   *reinterpret_cast<const std::uint32_t*>(at + i));
        futex_call(at + i, FUTEX_WAKE_OP, 1, 1, at + i, 0);
      }
  });
}

CARDAN_ROLE(lies) {  // handshakes of every wrong kind; each is answered with a refusal or a hang-up
  std::mt19937_64 random{99};
  const Area page = make_page();
  const Target target = target_of("/ping");
  cardan::test::say("attached");
  const std::string good = handshake::encode(attach_to_ping(target, 5));
  static const std::string kBits[] = {"null",   "-1", "1e400", "18446744073709551616", "\"\\u0000\"",
                                      "[[[[[[", "{}", "true",  "\"\xff\xfe\"",         ""};
  std::uint64_t sent = 0;
  while (!cardan::test::heard() || sent < 2000) {
    RawPeer peer(target.socket);
    if (!peer) continue;
    if (random() % 8 != 0) peer.send(R"({"op":"hello","version":1,"name":"liar","clock_offset":-9223372036854775808})");
    for (int i = 0; i < 4; ++i, ++sent) {
      std::string text = good;
      for (std::uint64_t n = random() % 4; n > 0; --n) {
        const std::size_t at = random() % text.size();
        switch (random() % 4) {
          case 0:
            text[at] = static_cast<char>(random());
            break;
          case 1:
            text.erase(at, random() % 20);
            break;
          case 2:
            text.insert(at, kBits[random() % std::size(kBits)]);
            break;
          default:
            text.insert(at, std::string(random() % 5000, "[{\"0"[random() % 4]));
        }
        if (text.empty()) text = "{";
      }
      std::vector<int> fds(random() % 4, page.read_only_fd());
      peer.send(text, fds);
    }
    if (random() % 4 == 0) peer.receive(1ms);
  }
  return 0;
}

/// Anything but a sealed area of the right size is refused with a reason.
CARDAN_ROLE(odd_areas) {
  const Target target = target_of("/ping");
  const RawPeer peer(target.socket);
  if (!peer || !peer.hello()) return 1;
  const auto offer = [&](std::uint64_t id, const Fd& fd) {
    peer.send(attach_to_ping(target, id), {fd.get()});
    const auto answer = peer.receive_op("refused");
    cardan::test::say("refused " + (answer ? answer->text : "(silence)"));
  };
  const auto memfd = [](unsigned flags, off_t bytes, int seals) {
    Fd fd(::memfd_create("odd", MFD_CLOEXEC | flags));
    if (!fd || ::ftruncate(fd.get(), bytes) != 0) return Fd();
    if (seals != 0) ::fcntl(fd.get(), F_ADD_SEALS, seals);
    return fd;
  };
  constexpr int kShape = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  constexpr int kAll = kShape | 0x0010;
  offer(1, memfd(MFD_ALLOW_SEALING, kPageBytes, 0));
  offer(2, memfd(MFD_ALLOW_SEALING, kPageBytes, kShape));
  offer(3, memfd(MFD_ALLOW_SEALING, kPageBytes, kAll & ~F_SEAL_SEAL));
  offer(4, memfd(MFD_ALLOW_SEALING, kPageBytes, kAll & ~F_SEAL_SHRINK));
  offer(5, memfd(MFD_ALLOW_SEALING, kPageBytes - 4096, kAll));
  offer(6, memfd(MFD_ALLOW_SEALING, kPageBytes + 4096, kAll));
  offer(7, memfd(MFD_ALLOW_SEALING, 1, kAll));
  offer(8, memfd(MFD_ALLOW_SEALING, 0, kAll));
  offer(9, memfd(MFD_ALLOW_SEALING, kPageBytes, kAll));  // right, but empty: another layout version
  Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  offer(10, file);
  offer(11, Fd(::open("/dev/zero", O_RDWR | O_CLOEXEC)));
  int pipes[2];
  if (::pipe2(pipes, O_CLOEXEC) != 0) return 1;
  offer(12, Fd(pipes[0]));
  ::close(pipes[1]);
  if (Fd huge = memfd(MFD_ALLOW_SEALING | MFD_HUGETLB, 2 << 20, kAll)) offer(13, huge);
  cardan::test::say("done");
  return 0;
}

/// With the descriptors that it gets, another user cannot write or shrink the publisher's memory.
CARDAN_ROLE(reopen) {
  const Attack a = attach();
  if (!a.connected()) return 1;
  int broken = 0;
  for (const auto& fd : a.fds) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
    const Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    for (const int f : {fd.get(), again.get()}) {
      if (f < 0) continue;
      if (::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0) != MAP_FAILED) broken |= 1;
      void* readable = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, f, 0);
      if (readable != MAP_FAILED && ::mprotect(readable, 4096, PROT_READ | PROT_WRITE) == 0) broken |= 2;
      if (readable != MAP_FAILED && ::madvise(readable, 4096, MADV_REMOVE) == 0) broken |= 4;
      if (::pwrite(f, "x", 1, 0) >= 0) broken |= 8;
      if (::ftruncate(f, 0) == 0) broken |= 16;
      if (::fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0) broken |= 32;
      if (::fallocate(f, FALLOC_FL_ZERO_RANGE, 0, 4096) == 0) broken |= 64;
      if (::fcntl(f, F_ADD_SEALS, F_SEAL_WRITE) == 0) broken |= 128;
    }
  }
  cardan::test::say("broken " + std::to_string(broken));
  return 0;
}

namespace {

class HostileSubscriber : public AttackTest, public testing::WithParamInterface<const char*> {};

/// Ping-pong: each fourth ping is answered; an answer that does not come is a missed wake-up.
struct PingPong {
  cardan::Publisher<Big> out{kPing};
  Child echo{"echo"};
  std::optional<cardan::Subscriber<Big>> in;
  std::uint64_t rounds = 0;

  PingPong() {
    echo.expect("ready");
    in.emplace(kPong);
  }
  void play(std::chrono::milliseconds length) {
    const auto until = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < until) {
      for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(cardan::test::publish_next(out, 1, kPingWords)) << "publish found no slot";
      for (;;) {
        const auto answer = in->wait(20s);
        ASSERT_TRUE(answer) << "no answer to ping " << out.published() << " after " << rounds
                            << " rounds: a missed wake-up or a hang";
        ASSERT_TRUE(cardan::test::intact(answer));
        if (cardan::test::writer_of(answer->key) == out.published() % (1U << 20)) break;  // what fits there
      }
      ++rounds;
    }
  }
  void end() {
    EXPECT_EQ(echo.end(), 0);
    while (const auto line = echo.line(0ms)) ADD_FAILURE() << "the honest subscriber says: " << *line;
  }
};

TEST_P(HostileSubscriber, HarmsNobody) {
  PingPong game;
  std::vector<std::unique_ptr<cardan::Publisher<Big>>> crowd;  // so that a list of what is here is long
  for (int i = 0; i < 100; ++i)
    crowd.push_back(std::make_unique<cardan::Publisher<Big>>(
        cardan::Topic<Big>{("/crowd/" + std::to_string(i)).c_str(), {.access = cardan::Access::Everyone}}));
  const long memory = cardan::test::number_in("/proc/self/status", "RssAnon");
  game.play(100ms);
  Child attacker = stranger(GetParam());
  attacker.expect("attached");
  game.play(cardan::test::deep() ? 15s : 900ms);
  EXPECT_LT(cardan::test::number_in("/proc/self/status", "RssAnon") - memory, 64 * 1024)
      << "the attacker filled the publisher's memory (KiB)";
  attacker.close_input();
  game.play(100ms);
  attacker.kill();
  game.play(100ms);
  // A newcomer still gets in.
  Child late("echo");
  late.expect("ready");
  EXPECT_TRUE(cardan::test::eventually([&] { return game.out.subscribers() >= 2; })) << "nobody can attach any more";
  EXPECT_EQ(late.end(), 0);
  game.end();
  std::printf("  %llu rounds\n", static_cast<unsigned long long>(game.rounds));
}
INSTANTIATE_TEST_SUITE_P(All, HostileSubscriber,
                         testing::Values("scribble", "extremes", "ten_thousand", "never_reads", "odd_notify", "futexes",
                                         "lies"),
                         [](const auto& one) { return std::string(one.param); });

class HostileAreas : public HostileSubscriber {};

TEST_F(HostileAreas, InvalidAreasAreRefused) {
  const cardan::Publisher<Big> out{kPing};
  Child attacker = stranger("odd_areas");
  int refused = 0;
  for (;;) {
    const auto line = attacker.line();
    ASSERT_TRUE(line);
    if (*line == "done") break;
    ++refused;
    EXPECT_NE(line->find("\"why\":\""), std::string::npos) << *line;
  }
  EXPECT_GE(refused, 12);
  EXPECT_EQ(out.subscribers(), 0U);
  EXPECT_EQ(attacker.end(), 0);
}

TEST_F(HostileAreas, AReceivedDescriptorCannotBeMadeWritable) {
  const cardan::Publisher<Big> out{kPing};
  Child attacker = stranger("reopen");
  EXPECT_EQ(attacker.expect("broken"), "0");
  EXPECT_EQ(attacker.end(), 0);
}

}  // namespace
