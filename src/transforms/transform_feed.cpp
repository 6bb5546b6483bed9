// SPDX-License-Identifier: Apache-2.0
#include "src/transforms/transform_feed.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "cardan/detail/forked.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "cardan/wait_any.hpp"

namespace cardan::detail {

TransformFeed::TransformFeed(std::shared_ptr<TransformStore> store, const std::string& domain)
    : store_(std::move(store)),
      moving_(kTransforms, {.domain = domain}),
      static_(kStaticTransforms, {.domain = domain}),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!end_)
    throw Error(ErrorCode::Limit, std::string("no descriptor for transforms: ") + std::strerror(errno),
                "raise ulimit -n");
  take();
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the application's own threads
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error& e) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error(ErrorCode::Limit, std::string("no thread for transforms: ") + e.what(), "raise ulimit -u");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "transforms");
}

TransformFeed::~TransformFeed() {
  if (is_forked_child()) {
    thread_.detach();  // it is the parent's
    return;
  }
  thread_.request_stop();
  const std::uint64_t one = 1;
  (void)!::write(end_.get(), &one, sizeof one);
}

void TransformFeed::take() noexcept {
  const auto all_of = [&](Subscriber<TransformMessage>& subscriber, bool is_static) {
    while (Sample<TransformMessage> sample = subscriber.take()) {
      SampleBlock* block = block_of(sample);
      block->references.fetch_add(1, std::memory_order_relaxed);
      store_->take(block, is_static);
    }
  };
  all_of(static_, true);
  all_of(moving_, false);
}

void TransformFeed::run(const std::stop_token& stop) noexcept {
  while (!stop.stop_requested()) {
    // A program that was asked to stop may still need transforms for its last steps. Nothing else waits then.
    constexpr std::chrono::milliseconds kLook{20};
    if (stopping())
      std::this_thread::sleep_for(kLook);
    else
      wait_any(moving_, static_, Readable{end_.get()});
    take();
  }
}

}  // namespace cardan::detail
