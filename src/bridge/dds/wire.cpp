// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/wire.hpp"

#include <dds/ddsi/ddsi_keyhash.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace cardan::bridge::dds {
namespace {

/// A fragment with its padding: more does not fit into a datagram.
constexpr std::size_t kMostFragment = 65536 + 8;

/// A type: its name, and where what is received goes. Cyclone shares equal types between topics; ours are never equal,
/// so that each topic keeps its own inbox.
struct Type : ::ddsi_sertype {
  std::shared_ptr<Inbox> inbox;
};
const Type& own(const ::ddsi_sertype* type) noexcept { return *static_cast<const Type*>(type); }

/// Where fragments go that do not lie within one piece. Its memory is there before Cyclone asks for any of them,
/// because Cyclone takes no error then; it is touched only as far as it is used.
class Seams {
 public:
  /// Returns false if there is no memory.
  [[nodiscard]] bool prepare(const WireMessage& message, std::size_t size) noexcept {
    std::size_t places = 1;  // the end, which is padded
    for (const auto& piece : message.pieces) places += piece.empty() ? 0U : 1U;
    each_ = std::min(size + 8, kMostFragment);
    places_ = std::min(places - (places > 1 ? 1 : 0), at_.size());
    bytes_.reset(new (std::nothrow) std::byte[each_ * places_]);
    return bytes_ != nullptr;
  }
  /// The whole message in one piece, as DDS Security wants it, of which `fill` writes `size` bytes. It stays as long as
  /// the message: Cyclone names its own encrypted copy when it gives a reference back. Any thread.
  template <class Fill>
  std::byte* whole(std::size_t size, Fill fill) noexcept {
    const std::lock_guard lock(mutex_);
    if (whole_) return whole_.get();
    whole_.reset(new (std::nothrow) std::byte[size]);
    if (!whole_) std::abort();  // Cyclone takes no error here
    fill(whole_.get());
    return whole_.get();
  }
  /// The bytes of this range, which `fill` writes if nobody has asked for it before. Null: none is left. Any thread.
  template <class Fill>
  std::byte* range(std::size_t offset, std::size_t size, Fill fill) noexcept {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < used_; ++i)
      if (at_[i].offset == offset && at_[i].size == size) return bytes_.get() + i * each_;
    if (used_ == places_ || size > each_) return nullptr;
    std::byte* const to = bytes_.get() + used_ * each_;
    at_[used_++] = {offset, size};
    fill(to);
    return to;
  }

 private:
  struct Range {
    std::size_t offset = 0, size = 0;
  };
  std::mutex mutex_;
  std::unique_ptr<std::byte[]> bytes_, whole_;
  std::array<Range, 3> at_{};
  std::size_t each_ = 0, places_ = 0, used_ = 0;
};

/// A message in Cyclone's hands: on its way out, or received.
struct Data : ::ddsi_serdata {
  WireMessage out{};
  mutable Seams seams{};
  std::size_t size = 0;
  std::shared_ptr<SendTally> tally{};
  Inbox::Buffer in{};
  Packets packets{};  ///< instead of `in`
  std::size_t cost = 0;
  std::shared_ptr<Inbox> inbox{};
  Atomic<bool> taken{false};
};
Data& own(::ddsi_serdata* data) noexcept { return *static_cast<Data*>(data); }
const Data& own(const ::ddsi_serdata* data) noexcept { return *static_cast<const Data*>(data); }

/// Copies the range; what lies past the end is zero.
void copy_range(const Data& d, std::size_t offset, std::size_t size, std::byte* to) noexcept {
  for (const auto& piece : d.out.pieces) {
    if (offset < piece.size()) {
      const std::size_t part = std::min(size, piece.size() - offset);
      std::memcpy(to, piece.data() + offset, part);
      to += part;
      size -= part;
      offset = 0;
    } else {
      offset -= piece.size();
    }
  }
  std::memset(to, 0, size);
}

// ---------------------------------------------------------------- operations on messages
// Cyclone calls them on its own threads, and no exception may pass through it.
bool same_key(const ::ddsi_serdata* /*a*/, const ::ddsi_serdata* /*b*/) noexcept {
  return true;
}  // topics without keys

std::uint32_t size_of(const ::ddsi_serdata* d) noexcept { return static_cast<std::uint32_t>(own(d).size); }

Data* new_received(const ::ddsi_sertype* type, ::ddsi_serdata_kind kind) noexcept {
  auto* const d = new (std::nothrow) Data;
  if (d == nullptr) return nullptr;
  ::ddsi_serdata_init(d, type, kind);
  if (type != nullptr) d->inbox = own(type).inbox;
  return d;
}

/// An empty message, which has been counted or had come before. For none at all, Cyclone would write a line to its log
/// each time.
Data* refused(Data* d) noexcept {
  d->taken.store(true);
  return d;
}

/// On Cyclone's receive thread. A null answer drops the message.
::ddsi_serdata* from_fragments(const ::ddsi_sertype* type, ::ddsi_serdata_kind kind, const Fragment* fragments,
                               std::size_t size) noexcept {
  const auto& inbox = own(type).inbox;
  const bool is_new = !inbox || fragments == nullptr || inbox->note(origin_of(*fragments));
  Data* const d = new_received(type, kind);
  if (d == nullptr && kind == SDK_DATA && inbox) inbox->not_taken();
  if (d == nullptr || kind != SDK_DATA || !inbox) return d;
  if (!is_new || !inbox->admits(size)) return refused(d);
  if (const std::size_t cost = cost_of_keeping(fragments, size); inbox->keep(cost)) {
    d->packets = Packets(fragments, size);
    d->cost = cost;
    d->size = size;
    return d;
  }
  if (!inbox->room(size, d->in)) return refused(d);
  d->size = d->in.size = copy_fragments(fragments, size, d->in.bytes.get());
  return d;
}

::ddsi_serdata* from_pieces(const ::ddsi_sertype* type, ::ddsi_serdata_kind kind, ::ddsrt_msg_iovlen_t count,
                            const ::ddsrt_iovec_t* pieces, std::size_t size) noexcept {
  Data* const d = new_received(type, kind);
  if (d == nullptr || kind != SDK_DATA || !d->inbox) return d;
  if (!d->inbox->admits(size) || !d->inbox->room(size, d->in)) return refused(d);
  std::size_t filled = 0;
  for (::ddsrt_msg_iovlen_t i = 0; i < count && filled < size; ++i) {
    const std::size_t part = std::min<std::size_t>(pieces[i].iov_len, size - filled);
    std::memcpy(d->in.bytes.get() + filled, pieces[i].iov_base, part);
    filled += part;
  }
  d->size = d->in.size = filled;
  return d;
}

::ddsi_serdata* from_key_hash(const ::ddsi_sertype* type, const ::ddsi_keyhash* /*hash*/) noexcept {
  return new_received(type, SDK_KEY);
}
::ddsi_serdata* from_sample(const ::ddsi_sertype* /*type*/, ::ddsi_serdata_kind /*kind*/,
                            const void* /*sample*/) noexcept {
  return nullptr;  // nobody writes samples, only bytes
}

void to_bytes(const ::ddsi_serdata* d, std::size_t offset, std::size_t size, void* buffer) noexcept {
  copy_range(own(d), offset, size, static_cast<std::byte*>(buffer));
}

/// A fragment that lies within one piece goes out from where it is.
::ddsi_serdata* to_reference(const ::ddsi_serdata* data, std::size_t offset, std::size_t size,
                             ::ddsrt_iovec_t* to) noexcept {
  const Data& d = own(data);
  std::size_t from = offset;
  to->iov_len = size;
  for (const auto& piece : d.out.pieces) {
    if (from < piece.size()) {
      if (size > piece.size() - from) break;
      to->iov_base = const_cast<std::byte*>(piece.data() + from);
      return ::ddsi_serdata_ref(data);
    }
    from -= piece.size();
  }
  const auto gather = [&](std::size_t begin, std::size_t bytes, std::byte* into) {
    copy_range(d, begin, bytes, into);
    if (d.tally) d.tally->gathered.fetch_add(bytes, std::memory_order_relaxed);
  };
  to->iov_base = d.seams.range(offset, size, [&](std::byte* into) { gather(offset, size, into); });
  if (to->iov_base == nullptr) {
    const std::size_t padded = std::max((d.size + 3) / 4 * 4, offset + size);
    to->iov_base = d.seams.whole(padded, [&](std::byte* into) { gather(0, padded, into); }) + offset;
  }
  return ::ddsi_serdata_ref(data);
}

void drop_reference(::ddsi_serdata* data, const ::ddsrt_iovec_t* /*reference*/) noexcept { ::ddsi_serdata_unref(data); }

bool to_sample(const ::ddsi_serdata* /*d*/, void* /*sample*/, void** /*buffer*/, void* /*limit*/) { return false; }
bool untyped_to_sample(const ::ddsi_sertype* /*type*/, const ::ddsi_serdata* /*d*/, void* /*sample*/, void** /*buffer*/,
                       void* /*limit*/) {
  return true;
}

::ddsi_serdata* to_untyped(const ::ddsi_serdata* d) noexcept {
  Data* const key = new_received(d->type, SDK_KEY);
  if (key != nullptr) key->type = nullptr;
  return key;
}

void free_data(::ddsi_serdata* data) noexcept {
  Data* const d = &own(data);
  if (d->inbox) {
    if (d->kind == SDK_DATA && !d->taken.load()) d->inbox->not_taken();
    d->inbox->give_back(std::move(d->in));
    d->packets = {};
    d->inbox->let_go(d->cost);
  }
  const std::shared_ptr<SendTally> tally = std::move(d->tally);
  delete d;  // lets go of the publisher's slot
  if (!tally) return;
  tally->held.fetch_sub(1);
  if (tally->wanted.exchange(false) && tally->released) tally->released();
}

std::size_t print(const ::ddsi_sertype* /*type*/, const ::ddsi_serdata* d, char* buffer, std::size_t size) noexcept {
  const int letters = std::snprintf(buffer, size, "(%zu bytes of CDR)", own(d).size);
  return letters > 0 ? static_cast<std::size_t>(letters) : 0;
}

void key_hash(const ::ddsi_serdata* /*d*/, ::ddsi_keyhash* hash, bool /*force_md5*/) {
  std::memset(hash, 0, sizeof(*hash));
}

/// Its last members are shared memory's, of one kind or another: not offered.
const ::ddsi_serdata_ops& data_operations() {
  static const ::ddsi_serdata_ops operations = [] {
    ::ddsi_serdata_ops o{};
    o.eqkey = same_key;
    o.get_size = size_of;
    o.from_ser = from_fragments;
    o.from_ser_iov = from_pieces;
    o.from_keyhash = from_key_hash;
    o.from_sample = from_sample;
    o.to_ser = to_bytes;
    o.to_ser_ref = to_reference;
    o.to_ser_unref = drop_reference;
    o.to_sample = to_sample;
    o.to_untyped = to_untyped;
    o.untyped_to_sample = untyped_to_sample;
    o.free = free_data;
    o.print = print;
    o.get_keyhash = key_hash;
    return o;
  }();
  return operations;
}

// ---------------------------------------------------------------- operations on types
void free_type(::ddsi_sertype* type) noexcept {
  ::ddsi_sertype_fini(type);
  delete static_cast<Type*>(type);
}
bool equal_types(const ::ddsi_sertype* a, const ::ddsi_sertype* b) { return a == b; }
std::uint32_t hash_of_type(const ::ddsi_sertype* type) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(type) >> 4U);
}
void zero_samples(const ::ddsi_sertype* /*type*/, void* /*samples*/, std::size_t /*count*/) {}
void grow_samples(void** /*pointers*/, const ::ddsi_sertype* /*type*/, void* /*old*/, std::size_t /*before*/,
                  std::size_t /*count*/) {}
void free_samples(const ::ddsi_sertype* /*type*/, void** /*pointers*/, std::size_t /*count*/, ::dds_free_op_t /*how*/) {
}

/// Without type objects: ROS 2 matches types by their names.
const ::ddsi_sertype_ops& type_operations() {
  static const ::ddsi_sertype_ops operations = [] {
    ::ddsi_sertype_ops o{};
    o.version = ::ddsi_sertype_v0;
    o.free = free_type;
    o.zero_samples = zero_samples;
    o.realloc_samples = grow_samples;
    o.free_samples = free_samples;
    o.equal = equal_types;
    o.hash = hash_of_type;
    return o;
  }();
  return operations;
}

}  // namespace

WireTopic make_topic(dds_entity_t participant, const std::string& name, const std::string& type_name,
                     std::shared_ptr<Inbox> inbox) {
  auto* const type = new Type{};
  ::ddsi_sertype_init_flags(type, type_name.c_str(), &type_operations(), &data_operations(),
                            DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
  type->allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1;
  type->inbox = std::move(inbox);
  ::ddsi_sertype* pointer = type;
  const dds_entity_t topic = ::dds_create_topic_sertype(participant, name.c_str(), &pointer, nullptr, nullptr, nullptr);
  if (topic < 0) ::ddsi_sertype_unref(type);
  return {.topic = Entity(checked(topic, "make the topic " + name)), .type = pointer};
}

::ddsi_serdata* new_message(const WireTopic& topic, WireMessage message, std::shared_ptr<SendTally> tally) noexcept {
  std::unique_ptr<Data> made(new (std::nothrow) Data);
  if (!made) return nullptr;
  for (const auto& piece : message.pieces) made->size += piece.size();
  if (!made->seams.prepare(message, made->size)) return nullptr;
  Data* const d = made.release();
  ::ddsi_serdata_init(d, topic.type, SDK_DATA);
  d->out = std::move(message);
  d->tally = std::move(tally);
  if (d->tally) d->tally->held.fetch_add(1);
  d->timestamp.v = d->out.source_ns;
  d->statusinfo = 0;
  return d;
}

dds_return_t write(dds_entity_t writer, const WireTopic& topic, WireMessage message, std::shared_ptr<SendTally> tally) {
  ::ddsi_serdata* const d = new_message(topic, std::move(message), std::move(tally));
  return d == nullptr ? DDS_RETCODE_OUT_OF_RESOURCES : ::dds_forwardcdr(writer, d);
}

Received::Received(::ddsi_serdata* data, const dds_sample_info_t& info) : data_(data), info_(info) {
  own(data_).taken.store(true);
}

Received::~Received() {
  if (data_ != nullptr) ::ddsi_serdata_unref(data_);
}

std::size_t Received::size() const noexcept {
  return info_.valid_data && data_->kind == SDK_DATA ? own(data_).size : 0;
}

std::span<const std::byte> Received::bytes() const noexcept {
  return {own(data_).in.bytes.get(), size() != 0 ? own(data_).in.size : 0};
}

CdrPieces Received::pieces(std::vector<std::span<const std::byte>>& room) const {
  room.clear();
  if (size() == 0) return {};
  const Data& d = own(data_);
  if (d.packets)
    d.packets.add_to(room);
  else
    room.emplace_back(d.in.bytes.get(), d.in.size);
  return room;
}

std::vector<Received> take(dds_entity_t reader, std::uint32_t most) {
  constexpr std::uint32_t kMost = 32;
  std::array<::ddsi_serdata*, kMost> data{};
  std::array<dds_sample_info_t, kMost> info{};
  std::vector<Received> received;
  received.reserve(std::min(most, kMost));
  const dds_return_t count = ::dds_takecdr(reader, data.data(), std::min(most, kMost), info.data(), DDS_ANY_STATE);
  if (count < 0) (void)checked(count, "take from a reader");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) received.emplace_back(data[i], info[i]);
  return received;
}

}  // namespace cardan::bridge::dds
