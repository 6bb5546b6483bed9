// SPDX-License-Identifier: Apache-2.0
#include "python/src/publisher.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cardan/any_publisher.hpp"
#include "python/src/errors.hpp"
#include "python/src/in_use.hpp"
#include "python/src/message.hpp"
#include "python/src/waits.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using detail::PublisherEnd;

/// Publishes messages of one type on one topic. Fills loans through Message.
class PublisherHandle {
 public:
  PublisherHandle(std::string topic, std::shared_ptr<AnyType> type, const TopicOptions& options, std::string domain,
                  std::string via)
      : topic_(std::move(topic)), type_(std::move(type)), reliable_(options.reliable) {
    const OthersRun others_run;
    end_ = std::make_shared<PublisherEnd>(topic_, type_->message_type(), options,
                                          PublisherOptions{.domain = std::move(domain), .via = std::move(via)});
  }

  nb::object loan(nb::handle cls) {
    refuse_fork();
    const InUse inside(busy_, topic_);
    detail::LoanedSlot slot = end().loan();
    if (!slot)
      throw Error(ErrorCode::Limit, "all slots of '" + topic_ + "' are held or on loan",
                  "publish or discard the loan that is out, let subscribers hold fewer samples, or raise `loans`");
    std::shared_ptr<const void> memory = slot.core();
    core_ = memory.get();
    auto content = Content::of_loan(type_, detail::untyped(std::move(slot), type_->message_type()), std::move(memory));
    std::byte* const root = content->root();
    return make_message(cls, std::move(content), type_->layout(), root);
  }

  bool publish(const Message& message) {
    refuse_fork();
    const std::shared_ptr<PublisherEnd> kept = shared_end();
    const InUse inside(busy_, topic_);
    check_own(message);
    AnyLoan loan = message.content->release();
    const detail::Filled filled = detail::take_out(loan);
    if (!reliable_) return PublisherEnd::publish(filled);
    const OthersRun others_run;  // it may wait for subscribers, at most reliable_timeout
    return PublisherEnd::publish(filled);
  }

  void fill_cdr(const Message& message, nb::handle bytes) {
    check_own(message);
    fill_from_cdr(message.content, bytes.ptr());
  }

  std::uint64_t published() const { return own_end()->published(); }
  std::size_t subscribers() const { return own_end()->subscribers(); }
  void set_checksum(bool on) { own_end()->set_checksum(on); }
  bool closed() const noexcept { return end_ == nullptr; }
  const std::string& topic() const noexcept { return topic_; }

  void close() {
    const std::shared_ptr<PublisherEnd> last = std::move(end_);
    end_ = nullptr;
    if (last == nullptr) return;
    const OthersRun others_run;
    const_cast<std::shared_ptr<PublisherEnd>&>(last).reset();
  }

 private:
  [[nodiscard]] std::shared_ptr<PublisherEnd> shared_end() const {
    if (end_ == nullptr)
      throw Error(ErrorCode::InvalidArgument, "the publisher of '" + topic_ + "' is closed", "make a new one");
    return end_;
  }
  /// Throws Error (Forked), too: the memory is the parent's.
  [[nodiscard]] std::shared_ptr<PublisherEnd> own_end() const {
    refuse_fork();
    return shared_end();
  }
  PublisherEnd& end() const { return *shared_end(); }

  void check_own(const Message& message) const {
    if (core_ == nullptr || message.content->publisher() != core_ || message.at != message.content->root())
      throw Error(ErrorCode::InvalidArgument, "this message is not a loan of the publisher of '" + topic_ + "'",
                  "publish what loan() returned");
  }

  std::string topic_;
  std::shared_ptr<const AnyType> type_;
  bool reliable_;
  std::shared_ptr<PublisherEnd> end_;
  const void* core_ = nullptr;  ///< what its loans are of
  std::atomic<bool> busy_{false};
};

}  // namespace

void bind_publisher(nb::module_& m) {
  nb::class_<PublisherHandle>(m, "PublisherHandle")
      .def(nb::init<std::string, std::shared_ptr<AnyType>, const TopicOptions&, std::string, std::string>(),
           nb::arg("topic"), nb::arg("type"), nb::arg("options"), nb::arg("domain"), nb::arg("via"))
      .def("loan", &PublisherHandle::loan, nb::arg("cls"))
      .def("publish", &PublisherHandle::publish, nb::arg("message"))
      .def(
          "discard", [](PublisherHandle&, const Message& message) { message.content->discard(); }, nb::arg("message"))
      .def("fill_cdr", &PublisherHandle::fill_cdr, nb::arg("message"), nb::arg("data"))
      .def("published", &PublisherHandle::published)
      .def("subscribers", &PublisherHandle::subscribers)
      .def("set_checksum", &PublisherHandle::set_checksum, nb::arg("on"))
      .def("closed", &PublisherHandle::closed)
      .def("close", &PublisherHandle::close);
}

}  // namespace cardan::python
