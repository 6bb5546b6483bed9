// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "cardan/arena.hpp"

namespace cardan::shm {

/// The common part of all vectors, whatever their elements: the location of the bytes, relative to the vector itself.
/// Not copyable, because the same distance would point elsewhere from the copy.
class VectorBase {
 public:
  VectorBase(const VectorBase&) = delete;
  VectorBase& operator=(const VectorBase&) = delete;

  /// For the transport, on a fresh loan: empties the vector and makes `arena` its storage.
  void bind_to(Arena& arena) noexcept {
    data_ = 0;
    size_ = 0;
    capacity_ = 0;
    arena_ = distance(this, &arena);
  }

  /// For the transport, on a private copy whose original is at `original`. The copy then points to the same elements,
  /// if they lie wholly within `payload_bytes` bytes from `payload` and are aligned. Otherwise returns false, and the
  /// vector is empty. Trusts no value of the copy.
  [[nodiscard]] bool adopt_from(const VectorBase* original, const std::byte* payload, std::size_t payload_bytes,
                                std::size_t element_bytes, std::size_t element_alignment) noexcept {
    const auto offset = static_cast<std::uint64_t>(data_);
    const std::uint64_t count = size_;
    data_ = 0;
    size_ = 0;
    capacity_ = 0;
    arena_ = 0;
    if (count == 0) return true;
    // Modulo 2^64 on purpose: for any offset, the result is either a position within the payload or a huge number.
    const std::uint64_t position =
        reinterpret_cast<std::uintptr_t>(original) + offset - reinterpret_cast<std::uintptr_t>(payload);
    if (position > payload_bytes || count > (payload_bytes - position) / element_bytes) return false;
    const std::byte* elements = payload + position;
    if (reinterpret_cast<std::uintptr_t>(elements) % element_alignment != 0) return false;
    data_ = distance(this, elements);
    size_ = count;
    capacity_ = count;
    return true;
  }
  /// For code that knows the type only at run time: the first element. For an empty vector, an address that must not be
  /// used.
  [[nodiscard]] void* elements() noexcept { return address(); }
  /// The same.
  [[nodiscard]] const void* elements() const noexcept { return address(); }
  /// The number of elements.
  [[nodiscard]] std::size_t element_count() const noexcept { return size_; }
  /// Resizes to `count` elements of `element_bytes` bytes; new elements are uninitialized. Returns false if there is no
  /// room. `alignment`: of a new piece of the arena.
  [[nodiscard]] bool try_resize_elements(std::size_t count, std::size_t element_bytes,
                                         std::uint64_t alignment = Arena::kAlignment) noexcept {
    if (!grow(count, element_bytes, alignment)) return false;
    size_ = count;
    return true;
  }
  /// The arena that its elements come from. Null: it cannot grow.
  [[nodiscard]] Arena* storage() const noexcept { return arena(); }

  /// The first element and the number of elements.
  struct Elements {
    const std::byte* first;
    std::size_t count;
  };
  /// For code that reads a vector that lies in a payload, as an element of another vector. Finds its elements, if they
  /// lie wholly within `payload_bytes` bytes from `payload` and are aligned; otherwise returns false. The author of the
  /// payload may still be writing, so each number of the vector is read once.
  [[nodiscard]] bool find_elements(const std::byte* payload, std::size_t payload_bytes, std::size_t element_bytes,
                                   std::size_t element_alignment, Elements& found) const noexcept {
    const auto offset = static_cast<std::uint64_t>(__atomic_load_n(&data_, __ATOMIC_RELAXED));
    found = {payload, static_cast<std::size_t>(__atomic_load_n(&size_, __ATOMIC_RELAXED))};
    if (found.count == 0) return true;
    // Modulo 2^64, as in adopt_from.
    const std::uint64_t position =
        reinterpret_cast<std::uintptr_t>(this) + offset - reinterpret_cast<std::uintptr_t>(payload);
    if (position > payload_bytes || found.count > (payload_bytes - position) / element_bytes) return false;
    found.first = payload + position;
    return reinterpret_cast<std::uintptr_t>(found.first) % element_alignment == 0;
  }
  /// For the transport: call it after the elements have moved by `distance` bytes.
  void elements_moved(std::ptrdiff_t distance) noexcept {
    if (data_ != 0) data_ += distance;
  }

 protected:
  VectorBase() noexcept = default;
  ~VectorBase() = default;

  // The address of an empty vector is not null, but the vector itself. This saves a branch, and leaves no path on which
  // the optimizer warns about writing to null.
  [[nodiscard]] void* address() const noexcept { return at_distance(this, static_cast<std::uint64_t>(data_)); }

  [[nodiscard]] Arena* arena() const noexcept {
    if (arena_ == 0) return nullptr;
    return static_cast<Arena*>(at_distance(this, static_cast<std::uint64_t>(arena_)));
  }

  // The last piece of the arena grows in place, by what is needed. Any other piece moves, and then takes twice its room
  // if it can.
  [[nodiscard]] bool grow(std::uint64_t count, std::size_t element_bytes,
                          std::uint64_t alignment = Arena::kAlignment) noexcept {
    if (count <= capacity_) return true;
    Arena* const storage = arena();
    if (storage == nullptr || count > std::numeric_limits<std::int64_t>::max() / element_bytes) return false;
    auto* const old = static_cast<std::byte*>(address());
    if (capacity_ != 0 && storage->ends_at(old + capacity_ * element_bytes)) {
      if (!storage->extend(old + capacity_ * element_bytes, (count - capacity_) * element_bytes)) return false;
      capacity_ = count;
      return true;
    }
    std::uint64_t wanted = count > capacity_ * 2 ? count : capacity_ * 2;
    std::byte* fresh = storage->allocate(wanted * element_bytes, alignment);
    if (fresh == nullptr) {
      wanted = count;
      fresh = storage->allocate(wanted * element_bytes, alignment);
    }
    if (fresh == nullptr) return false;
    if (size_ != 0) std::memcpy(fresh, old, size_ * element_bytes);
    data_ = distance(this, fresh);
    capacity_ = wanted;
    return true;
  }

  /// Throws std::length_error with the requested and the available room, and the remedy.
  [[noreturn]] void throw_no_room(std::uint64_t count, std::size_t element_bytes) const;
  /// Throws std::out_of_range.
  [[noreturn]] static void throw_out_of_range(std::size_t i, std::size_t size);

  [[nodiscard]] static std::int64_t distance(const void* from, const void* to) noexcept {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from));
  }

  std::int64_t data_ = 0;       // distance from this to the first element; 0: none
  std::uint64_t size_ = 0;      // elements
  std::uint64_t capacity_ = 0;  // elements
  std::int64_t arena_ = 0;      // distance from this to the Arena; 0: cannot grow
};

/// A vector inside a message. It is used like `std::vector`; its elements live in the message's slot and are not copied
/// on the way to a subscriber. Elements are trivially copyable and hold no vectors themselves. The vector cannot be
/// copied or moved, nor can the message around it: copy the elements (`std::vector<T>(v.begin(), v.end())`) or hold the
/// sample. Growing beyond the topic's `max_bytes` throws `std::length_error`; the `try_` forms return false instead and
/// leave the vector as it was. Functions without a comment do what they do in `std::vector`: growing invalidates
/// iterators, operator[] does not check its index, and at() throws `std::out_of_range`.
/// Thread safety: like `std::vector`. Never blocks.
template <class T>
class vector : public VectorBase {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "cardan::shm::vector: elements must be trivially copyable: no std::string or std::vector (use FixedString, "
      "std::array, FixedVector) and no shm::vector inside an element");
  static_assert(!std::is_pointer_v<T>,
                "cardan::shm::vector: a pointer means nothing in another process; store an index");
  static_assert(alignof(T) <= Arena::kAlignment,
                "cardan::shm::vector: elements may ask for an alignment of at most 64");

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  vector() noexcept = default;

  /// The first element. For an empty vector, an address that must not be used.
  [[nodiscard]] T* data() noexcept { return static_cast<T*>(address()); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(address()); }
  [[nodiscard]] size_type size() const noexcept { return size_; }
  /// Bytes of all elements.
  [[nodiscard]] size_type size_bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] size_type capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] static constexpr size_type max_size() noexcept {
    return static_cast<size_type>(std::numeric_limits<std::int64_t>::max()) / sizeof(T);
  }

  [[nodiscard]] iterator begin() noexcept { return data(); }
  [[nodiscard]] iterator end() noexcept { return data() + size_; }
  [[nodiscard]] const_iterator begin() const noexcept { return data(); }
  [[nodiscard]] const_iterator end() const noexcept { return data() + size_; }
  [[nodiscard]] const_iterator cbegin() const noexcept { return begin(); }
  [[nodiscard]] const_iterator cend() const noexcept { return end(); }
  [[nodiscard]] reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  [[nodiscard]] reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  [[nodiscard]] const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  [[nodiscard]] const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }

  [[nodiscard]] T& operator[](size_type i) noexcept { return data()[i]; }
  [[nodiscard]] const T& operator[](size_type i) const noexcept { return data()[i]; }
  [[nodiscard]] T& at(size_type i) { return data()[checked(i)]; }
  [[nodiscard]] const T& at(size_type i) const { return data()[checked(i)]; }
  [[nodiscard]] T& front() noexcept { return data()[0]; }
  [[nodiscard]] const T& front() const noexcept { return data()[0]; }
  [[nodiscard]] T& back() noexcept { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return data()[size_ - 1]; }

  /// All elements. Valid until the vector grows.
  [[nodiscard]] std::span<T> span() noexcept { return {data(), size()}; }
  /// The same, read-only.
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size()}; }

  void clear() noexcept { size_ = 0; }
  void pop_back() noexcept { --size_; }

  /// Makes room for `count` elements in the message's payload. Up to that number the elements do not move.
  [[nodiscard]] bool try_reserve(size_type count) noexcept { return grow(count, sizeof(T)); }
  void reserve(size_type count) {
    if (!try_reserve(count)) throw_no_room(count, sizeof(T));
  }

  /// Resizes to `count` elements; new ones are `T{}`.
  [[nodiscard]] bool try_resize(size_type count) noexcept {
    const size_type old = size_;
    if (!try_resize_for_overwrite(count)) return false;
    T* const first = data();
    for (size_type i = old; i < count; ++i) ::new (static_cast<void*>(first + i)) T();
    return true;
  }
  void resize(size_type count) {
    if (!try_resize(count)) throw_no_room(count, sizeof(T));
  }
  void resize(size_type count, const T& value) {
    const size_type old = size_;
    const T fill = value;
    resize_for_overwrite(count);
    for (size_type i = old; i < count; ++i) data()[i] = fill;
  }

  /// Resizes to `count` elements; new ones are uninitialized. For bytes that are about to be overwritten.
  [[nodiscard]] bool try_resize_for_overwrite(size_type count) noexcept {
    if (!grow(count, sizeof(T))) return false;
    size_ = count;
    return true;
  }
  /// The same; throws `std::length_error` if they do not fit.
  void resize_for_overwrite(size_type count) {
    if (!try_resize_for_overwrite(count)) throw_no_room(count, sizeof(T));
  }

  /// Appends a copy of `value`, which may be an element of this vector.
  [[nodiscard]] bool try_push_back(const T& value) noexcept {
    const T fresh = value;  // `value` may be an element of this vector, which moves
    if (!grow(size_ + 1, sizeof(T))) return false;
    data()[size_] = fresh;
    ++size_;
    return true;
  }
  void push_back(const T& value) {
    if (!try_push_back(value)) throw_no_room(size_ + 1, sizeof(T));
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    push_back(T{std::forward<Args>(args)...});
    return back();
  }

  /// Replaces all elements by copies of `values`.
  [[nodiscard]] bool try_assign(std::span<const T> values) noexcept {
    if (!try_resize_for_overwrite(values.size())) return false;
    if (!values.empty()) std::memmove(static_cast<void*>(data()), values.data(), values.size_bytes());
    return true;
  }
  void assign(std::span<const T> values) {
    if (!try_assign(values)) throw_no_room(values.size(), sizeof(T));
  }
  void assign(std::initializer_list<T> values) { assign(std::span<const T>(values.begin(), values.size())); }
  void assign(size_type count, const T& value) {
    const T fill = value;
    resize_for_overwrite(count);
    for (T& element : span()) element = fill;
  }
  template <std::input_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }
  vector& operator=(std::initializer_list<T> values) {
    assign(values);
    return *this;
  }

  iterator insert(const_iterator where, const T& value) {
    const difference_type index = where - begin();
    push_back(value);
    iterator place = begin() + index;
    const T fresh = back();
    std::memmove(static_cast<void*>(place + 1), place, static_cast<size_type>(end() - 1 - place) * sizeof(T));
    *place = fresh;
    return place;
  }
  iterator erase(const_iterator where) noexcept { return erase(where, where + 1); }
  iterator erase(const_iterator first, const_iterator last) noexcept {
    iterator gap = begin() + (first - begin());
    if (first == last) return gap;
    std::memmove(static_cast<void*>(gap), last, static_cast<size_type>(end() - last) * sizeof(T));
    size_ -= static_cast<size_type>(last - first);
    return gap;
  }

  friend bool operator==(const vector& a, const vector& b) {
    const std::span<const T> ours = a.span(), theirs = b.span();
    if (ours.size() != theirs.size()) return false;
    for (size_type i = 0; i < ours.size(); ++i)
      if (!(ours[i] == theirs[i])) return false;
    return true;
  }

 private:
  [[nodiscard]] size_type checked(size_type i) const {
    if (i >= size_) throw_out_of_range(i, size_);
    return i;
  }
};

}  // namespace cardan::shm
