// SPDX-License-Identifier: Apache-2.0
#include "python/src/content.hpp"

#include <cstring>
#include <utility>

#include "cardan/base/error.hpp"
#include "cardan/base/forked.hpp"
#include "cardan/messages/layout_cdr.hpp"
#include "cardan/messages/layout_walk.hpp"
#include "python/src/errors.hpp"

namespace cardan::python {

std::shared_ptr<Content> Content::of_sample(std::shared_ptr<const AnyType> type, AnySample sample) {
  std::shared_ptr<Content> made(new Content);
  const TypeLayout& layout = type->layout();
  const std::span<const std::byte> message = sample.message();
  if (message.size() < layout.size) return nullptr;
  made->payload_ = sample.payload();
  if (layout.has_vectors()) {
    made->copy_.assign(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(layout.size));
    if (!adopt(layout, made->copy_.data(), message.data(), made->payload_)) return nullptr;
    made->root_ = made->copy_.data();
  } else {
    made->root_ = const_cast<std::byte*>(message.data());  // never written: state_ says Sample
  }
  made->info_ = {sample.sequence(), sample.missed(), sample.publish_time(), sample.source_time()};
  made->type_ = std::move(type);
  made->sample_ = std::move(sample);
  return made;
}

std::shared_ptr<Content> Content::of_loan(std::shared_ptr<const AnyType> type, AnyLoan loan,
                                          std::shared_ptr<const void> memory) {
  std::shared_ptr<Content> made(new Content);
  made->state_ = State::Loan;
  made->root_ = loan.message();
  if (loan.arena() != nullptr) bind(type->layout(), made->root_, *loan.arena());
  made->type_ = std::move(type);
  made->loan_ = std::move(loan);
  made->memory_ = std::move(memory);
  return made;
}

Content::~Content() {
  for (PyObject* weak : arrays_) Py_DECREF(weak);
}

std::shared_ptr<Content> Content::copied() const {
  require_readable();
  if (state_ != State::Sample)
    throw Error(ErrorCode::InvalidArgument, "a loan is not a message yet", "publish it, and copy what is received");
  constexpr std::size_t kAlignment = 64;
  std::shared_ptr<Content> made(new Content);
  made->type_ = type_;
  made->info_ = info_;
  made->copy_.assign(root_, root_ + type_->layout().size);
  made->root_ = made->copy_.data();
  if (!type_->layout().has_vectors()) return made;
  made->own_payload_.resize(payload_.size() + kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(made->own_payload_.data());
  std::byte* const payload = made->own_payload_.data() + (kAlignment - address % kAlignment) % kAlignment;
  std::memcpy(payload, payload_.data(), payload_.size());
  made->payload_ = {payload, payload_.size()};
  if (!adopt(type_->layout(), made->root_, root_, payload_))
    throw Error(ErrorCode::Incompatible, "the message is malformed", "");
  const auto moved = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(payload) -
                                                 reinterpret_cast<std::uintptr_t>(payload_.data()));
  detail::for_each_vector_in(type_->layout(), made->root_,
                             [&](shm::VectorBase& vector, const TypeLayout&) { vector.elements_moved(moved); });
  return made;
}

std::size_t Content::capacity() const noexcept { return loan_.arena() == nullptr ? 0 : loan_.arena()->capacity; }

void Content::require_readable() const {
  refuse_fork();
  if (state_ == State::Published)
    throw Error(ErrorCode::InvalidArgument, "this loan is published: the message belongs to its readers now",
                "take what you still need before the publication, or a new loan");
  if (state_ == State::Discarded)
    throw Error(ErrorCode::InvalidArgument, "this loan was given back unpublished", "take a new loan");
}

void Content::require_writable() const {
  require_readable();
  if (state_ == State::Sample)
    throw Error(ErrorCode::InvalidArgument, "a message that was received is read-only",
                "fill a loan of a publisher, or change a copy: cardan.to_dict(message), array.copy()");
}

void Content::track(PyObject* array) {
  if (arrays_.size() >= prune_at_) {
    std::vector<PyObject*> alive;
    for (PyObject* weak : arrays_) {
      if (PyWeakref_GetObject(weak) != Py_None)
        alive.push_back(weak);
      else
        Py_DECREF(weak);
    }
    arrays_ = std::move(alive);
    prune_at_ = 2 * arrays_.size() + 16;
  }
  PyObject* weak = PyWeakref_NewRef(array, nullptr);
  if (weak == nullptr) throw_python();
  arrays_.push_back(weak);
}

void Content::end_arrays() {
  for (PyObject* weak : std::exchange(arrays_, {})) {
    PyObject* const array = PyWeakref_GetObject(weak);
    if (array != nullptr && array != Py_None) {
      PyObject* const flags = PyObject_GetAttrString(array, "flags");
      if (flags == nullptr || PyObject_SetAttrString(flags, "writeable", Py_False) != 0) PyErr_Clear();
      Py_XDECREF(flags);
    }
    Py_DECREF(weak);
  }
}

AnyLoan Content::release() {
  require_writable();
  end_arrays();
  state_ = State::Published;
  return std::move(loan_);
}

void Content::discard() {
  if (state_ != State::Loan) return;
  end_arrays();
  state_ = State::Discarded;
  loan_.reset();
}

}  // namespace cardan::python
