// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/implementation.hpp"

#include <pthread.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/record/disk/recording_file.hpp"
#include "src/record/recorder/checked_options.hpp"
#include "src/record/recorder/recorder_loop.hpp"

namespace cardan::record {
namespace {

/// A file that grows beyond what the process may write is an error of that write, not the end of the process. Threads
/// that are started from here inherit it.
void block_file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

Recorder::Implementation::Implementation(RecorderOptions options)
    : options_(checked(std::move(options))),
      probe_(probe_disk(folder_of(options_.path), options_.mode, options_.use_io_uring)) {
  requests_.pause(options_.start_paused);
  std::promise<void> started;
  thread_ = std::thread([this, &started] { run(started); });
  started.get_future().wait();
  if (!start_error_) return;
  thread_.join();
  std::rethrow_exception(std::move(start_error_));
}

Recorder::Implementation::~Implementation() {
  try {
    stop();
  } catch (const Error& e) {
    detail::log(LogLevel::Error, std::string("the recording did not end properly: ") + e.what());
  }
}

void Recorder::Implementation::stop() {
  const std::lock_guard lock(stop_mutex_);
  if (!thread_.joinable()) return;
  requests_.stop();
  thread_.join();
}

void Recorder::Implementation::run(std::promise<void>& started) {
  block_file_size_signal();
  std::unique_ptr<RecorderLoop> loop;
  try {
    loop = std::make_unique<RecorderLoop>(options_, probe_, requests_, latest_);
  } catch (...) {
    start_error_ = std::current_exception();
  }
  if (loop == nullptr) return started.set_value();
  loop->run([&started] { started.set_value(); });
  loop.reset();
  ended_.store(true, std::memory_order_release);
}

}  // namespace cardan::record
