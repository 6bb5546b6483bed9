// SPDX-License-Identifier: Apache-2.0
#include "python/src/content.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cardan/detail/forked.hpp"
#include "cardan/error.hpp"
#include "python/src/errors.hpp"
#include "src/messages/layout_cdr.hpp"
#include "src/messages/layout_walk.hpp"

namespace cardan::python {

std::shared_ptr<Content> Content::of_sample(std::shared_ptr<const AnyType> type, AnySample sample) {
  const std::span<const std::byte> message = sample.message();
  if (message.size() < type->layout().size) return nullptr;
  std::shared_ptr<Content> made = of_shared(std::move(type), message.data(), sample.payload(),
                                            {.sequence = sample.sequence(),
                                             .missed = sample.missed(),
                                             .publish_ns = sample.publish_time(),
                                             .source_ns = sample.source_time(),
                                             .origin_ns = sample.origin_time()});
  if (made != nullptr) made->block_ = detail::block_of(sample);
  if (made != nullptr) made->sample_ = std::make_shared<AnySample>(std::move(sample));
  return made;
}

std::shared_ptr<Content> Content::of_block(std::shared_ptr<const AnyType> type, detail::SampleBlock* block) {
  std::shared_ptr<const void> kept(block, &detail::drop);
  const std::span<const std::byte> payload(block->payload, static_cast<std::size_t>(block->payload_bytes));
  std::shared_ptr<Content> made = of_shared(std::move(type), static_cast<const std::byte*>(block->message), payload,
                                            {.sequence = block->sequence,
                                             .missed = block->missed,
                                             .publish_ns = block->publish_ns,
                                             .source_ns = block->source_ns,
                                             .origin_ns = block->origin()});
  if (made != nullptr) made->block_ = block;
  if (made != nullptr) made->sample_ = std::move(kept);
  return made;
}

std::shared_ptr<Content> Content::of_shared(std::shared_ptr<const AnyType> type, const std::byte* message,
                                            std::span<const std::byte> payload, Info info) {
  const TypeLayout& layout = type->layout();
  std::shared_ptr<Content> made(new Content);
  made->payload_ = payload;
  if (layout.has_vectors()) {
    made->copy_.assign(message, message + layout.size);
    if (!adopt(layout, made->copy_.data(), message, payload)) return nullptr;
    made->root_ = made->copy_.data();
  } else {
    made->root_ = const_cast<std::byte*>(message);  // never written: state_ says Sample
  }
  made->info_ = std::move(info);
  made->type_ = std::move(type);
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

void Content::reserve(std::size_t capacity) {
  own_payload_.reset(static_cast<std::byte*>(::operator new(capacity + 1, std::align_val_t{shm::Arena::kAlignment})));
  arena_.place(own_payload_.get(), capacity);
}

std::shared_ptr<Content> Content::of_recorded(std::shared_ptr<const AnyType> type, std::span<const std::byte> bytes,
                                              bool encoded, std::uint64_t most_bytes, Info info, std::string& why) {
  const TypeLayout& layout = type->layout();
  // Checked before the memory for it is zeroed: a definition may name an array of a gigabyte.
  if (!encoded && bytes.size() < detail::least_cdr_bytes(layout)) {
    why = "it has " + std::to_string(bytes.size()) + " bytes, which is too few for its type";
    return nullptr;
  }
  const std::size_t wanted = encoded ? bytes.size() : type->payload_bytes(bytes.size());
  std::shared_ptr<Content> made(new Content);
  made->own_ = true;
  made->copy_.assign(layout.size, std::byte{});
  made->root_ = made->copy_.data();
  // The pages that the message does not need are never touched.
  if (layout.has_vectors()) made->reserve(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, most_bytes)));
  if (encoded) {
    bind(layout, made->root_, made->arena_);
    auto& list = *reinterpret_cast<shm::VectorBase*>(made->root_ + layout.fields.front().offset);
    if (!list.try_resize_elements(bytes.size(), 1, shm::Arena::kAlignment)) {
      why = "it has " + std::to_string(bytes.size()) + " bytes, more than max_memory";
      return nullptr;
    }
    if (!bytes.empty()) std::memcpy(list.elements(), bytes.data(), bytes.size());
  } else if (const CdrResult result = type->fill(bytes, made->root_, layout.has_vectors() ? &made->arena_ : nullptr);
             !result) {
    why = result.error == CdrError::NoRoom ? "it needs more memory than max_memory" : result.text();
    return nullptr;
  }
  made->payload_ = {made->own_payload_.get(), static_cast<std::size_t>(made->arena_.used)};
  made->info_ = std::move(info);
  made->type_ = std::move(type);
  return made;
}

std::shared_ptr<Content> Content::of_draft(std::shared_ptr<const AnyType> type, std::size_t capacity) {
  std::shared_ptr<Content> made(new Content);
  made->state_ = State::Loan;
  made->own_ = true;
  made->copy_.assign(type->layout().size, std::byte{});
  made->root_ = made->copy_.data();
  if (type->layout().has_vectors()) {
    made->reserve(capacity);
    bind(type->layout(), made->root_, made->arena_);
  }
  made->type_ = std::move(type);
  return made;
}

Content::~Content() {
  for (PyObject* weak : arrays_) Py_DECREF(weak);
}

std::shared_ptr<Content> Content::copied() const {
  require_readable();
  if (state_ != State::Sample)
    throw Error(ErrorCode::InvalidArgument, "a loan is not a message yet", "publish it, and copy what is received");
  std::shared_ptr<Content> made(new Content);
  made->own_ = true;
  made->type_ = type_;
  made->info_ = info_;
  made->copy_.assign(root_, root_ + type_->layout().size);
  made->root_ = made->copy_.data();
  if (!type_->layout().has_vectors()) return made;
  made->reserve(payload_.size());
  std::byte* const payload = made->own_payload_.get();
  if (!payload_.empty()) std::memcpy(payload, payload_.data(), payload_.size());
  made->payload_ = {payload, payload_.size()};
  if (!adopt(type_->layout(), made->root_, root_, payload_))
    throw Error(ErrorCode::Incompatible, "the message is malformed", "");
  const auto moved = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(payload) -
                                                 reinterpret_cast<std::uintptr_t>(payload_.data()));
  detail::for_each_vector_in(type_->layout(), made->root_,
                             [&](shm::VectorBase& vector, const TypeLayout&) { vector.elements_moved(moved); });
  return made;
}

std::size_t Content::capacity() const noexcept {
  if (own_) return arena_.capacity;
  return loan_.arena() == nullptr ? 0 : loan_.arena()->capacity;
}

void Content::set_source_time(std::int64_t ns) {
  require_writable();
  if (own_)
    info_.source_ns = ns;
  else
    loan_.set_source_time(ns);
}

void Content::rests_on(const Content& other) {
  require_writable();
  if (!own_ && other.block_ != nullptr) loan_.rests_on(*other.block_);
}

void Content::require_readable() const {
  if (!own_) refuse_fork();
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

void Content::refuse_filling() const {
  if (filling_)
    throw Error(ErrorCode::InvalidArgument, "this loan is being filled: a value is on its way into it",
                "use the loan in one thread, and not in the conversion of its values");
}

Content::Filling::Filling(const std::shared_ptr<Content>& content) : content_(content) {
  content_->require_writable();
  content_->refuse_filling();
  content_->filling_ = true;
}

bool Content::has_arrays() const {
  return std::any_of(arrays_.begin(), arrays_.end(),
                     [](PyObject* weak) { return PyWeakref_GetObject(weak) != Py_None; });
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
      const nanobind::object kept = nanobind::borrow(array);
      PyObject* const flags = PyObject_GetAttrString(array, "flags");
      if (flags == nullptr || PyObject_SetAttrString(flags, "writeable", Py_False) != 0) PyErr_Clear();
      Py_XDECREF(flags);
    }
    Py_DECREF(weak);
  }
}

AnyLoan Content::release() {
  require_writable();
  refuse_filling();
  state_ = State::Published;  // before any code of Python runs
  end_arrays();
  return std::move(loan_);
}

void Content::discard() {
  if (state_ != State::Loan) return;
  refuse_filling();
  state_ = State::Discarded;
  end_arrays();
  loan_.reset();
}

void fill_from_cdr(const std::shared_ptr<Content>& content, PyObject* bytes) {
  const AnyType& type = content->type();
  const Content::Filling filling(content);
  Py_buffer view;
  if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) != 0) throw_python();
  // The message's lists begin where the storage begins, so what showed others must be gone. Two are the message's and
  // `filling`'s.
  if (content.use_count() > 2 || content->has_arrays()) {
    PyBuffer_Release(&view);
    throw Error(ErrorCode::InvalidArgument, "parts of this loan are in use, or are the bytes to fill it with",
                "fill a new loan");
  }
  const CdrResult result =
      type.fill({static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len)}, content->loan());
  PyBuffer_Release(&view);
  if (!result)
    throw Error(ErrorCode::InvalidArgument, "the bytes are not a " + type.layout().name + ": " + result.text(),
                "check the sender's type, and max_bytes of the topic");
}

}  // namespace cardan::python
