// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "src/mcap/new_file.hpp"
#include "cardan/mcap/writer.hpp"
#include "cardan/any_type.hpp"
#include "src/record/metadata.hpp"
#include "python/src/errors.hpp"
#include "python/src/in_use.hpp"
#include "python/src/record_module.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Texts = std::map<std::string, std::string>;

constexpr std::uint32_t kDepth = 10;  ///< what players offer by default

/// A file that is there under its name once it is closed.
class BagWriter {
 public:
  BagWriter(std::string path, bool replace, const std::string& compression, int level, std::uint64_t chunk_bytes)
      : path_(std::move(path)) {
    const mcap::Compression kind = mcap::require_compression(compression);
    const mcap::Levels levels = mcap::levels_of(kind);
    if (level != 0 && (level < levels.lowest || level > levels.highest))
      throw Error(ErrorCode::InvalidArgument, "level is " + std::to_string(level),
                  compression + " has " + std::to_string(levels.lowest) + " to " + std::to_string(levels.highest));
    file_ = std::make_unique<mcap::NewFile>(path_, replace);
    writer_ = std::make_unique<mcap::Writer>(
        [this](mcap::View bytes) { file_->write(bytes); },
        mcap::WriterOptions{
            .overwrite = [this](std::uint64_t offset, mcap::View bytes) { file_->overwrite(offset, bytes); },
            .chunk_bytes = chunk_bytes,
            .compression = kind,
            .level = level});
  }

  /// A channel of messages of a type that is known, in their CDR form.
  std::uint16_t add_native(std::string topic, const AnyType& type) {
    const std::string& name = type.layout().name;
    const std::string& schema = type.message_type().schema;
    Texts metadata{{record::kTypeHashKey, record::type_hash_text(type.message_type().hash)},
                   {record::kQosKey, record::offered_qos(kDepth)}};
    if (std::string hash = record::ros_type_hash(name, schema); !hash.empty())
      metadata[record::kRosTypeHashKey] = std::move(hash);
    return add(std::move(topic), "cdr", name, "ros2msg", std::as_bytes(std::span(schema)), std::move(metadata));
  }

  /// A channel of messages as they are.
  std::uint16_t add_encoded(std::string topic, std::string encoding, const std::string& type,
                            const std::string& schema_encoding, const nb::bytes& schema, Texts metadata) {
    const auto* const first = static_cast<const std::byte*>(schema.data());
    return add(std::move(topic), std::move(encoding), type, schema_encoding, {first, schema.size()},
               std::move(metadata));
  }

  void write(std::uint16_t channel, nb::handle data, std::uint64_t log_ns, std::uint64_t publish_ns,
             std::uint32_t sequence, std::int64_t source_ns) {
    const InUse inside(busy_, path_);
    require_open();
    Py_buffer view;
    if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) throw_python();
    const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> released(&view, &PyBuffer_Release);
    const mcap::View bytes{static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len)};
    const nb::gil_scoped_release others_run;
    guarded([&] {
      writer_->write({.channel_id = channel,
                      .sequence = sequence,
                      .log_time = log_ns,
                      .publish_time = publish_ns,
                      .data = bytes,
                      .source_time = source_ns});
    });
    ++messages_;
  }

  void add_metadata(std::string name, Texts fields) {
    const InUse inside(busy_, path_);
    require_open();
    guarded([&] { writer_->add(mcap::Metadata{.name = std::move(name), .metadata = std::move(fields)}); });
  }

  /// A second call does nothing.
  void close() {
    const InUse inside(busy_, path_);
    if (file_ == nullptr) return;
    const nb::gil_scoped_release others_run;
    guarded([&] {
      writer_->close();
      file_->finish();
    });
    drop();
  }

  void discard() {
    const InUse inside(busy_, path_);
    drop();
  }

  [[nodiscard]] bool closed() const noexcept { return file_ == nullptr; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  std::uint16_t add(std::string topic, std::string encoding, const std::string& type,
                    const std::string& schema_encoding, mcap::View schema, Texts metadata) {
    const InUse inside(busy_, path_);
    require_open();
    constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
    if (channels_ == kMost)
      throw Error(ErrorCode::Limit, path_ + " has 65,535 channels", "write further topics into another file");
    const std::string key =
        type + '\n' + schema_encoding + '\n' + std::string(reinterpret_cast<const char*>(schema.data()), schema.size());
    const bool has_schema = !type.empty() || !schema.empty();
    std::uint16_t schema_id = 0;
    guarded([&] {
      if (has_schema) {
        const auto [at, is_new] = schemas_.try_emplace(key, static_cast<std::uint16_t>(schemas_.size() + 1));
        schema_id = at->second;
        if (is_new)
          writer_->add(mcap::Schema{.id = schema_id,
                                    .name = type,
                                    .encoding = schema_encoding,
                                    .data = mcap::Bytes(schema.begin(), schema.end())});
      }
      writer_->add(mcap::Channel{.id = ++channels_,
                                 .schema_id = schema_id,
                                 .topic = std::move(topic),
                                 .message_encoding = std::move(encoding),
                                 .metadata = std::move(metadata)});
    });
    return channels_;
  }

  void require_open() const {
    if (file_ == nullptr) throw Error(ErrorCode::InvalidArgument, path_ + " is closed", "open another file");
  }

  /// After a failure of the disk nothing fits together any more.
  template <class Work>
  void guarded(Work work) {
    try {
      work();
    } catch (...) {
      drop();
      throw;
    }
  }

  void drop() {
    writer_.reset();
    file_.reset();
  }

  std::string path_;
  std::unique_ptr<mcap::NewFile> file_;
  std::unique_ptr<mcap::Writer> writer_;
  std::map<std::string, std::uint16_t> schemas_;
  std::uint16_t channels_ = 0;
  std::uint64_t messages_ = 0;
  std::atomic<bool> busy_{false};
};

}  // namespace

void bind_bag_writer(nb::module_& m) {
  nb::class_<BagWriter>(m, "BagWriter")
      .def(nb::init<std::string, bool, const std::string&, int, std::uint64_t>(), nb::arg("path"), nb::arg("replace"),
           nb::arg("compression"), nb::arg("level"), nb::arg("chunk_bytes"))
      .def("add_native", &BagWriter::add_native, nb::arg("topic"), nb::arg("type"))
      .def("add_encoded", &BagWriter::add_encoded, nb::arg("topic"), nb::arg("encoding"), nb::arg("type"),
           nb::arg("schema_encoding"), nb::arg("schema"), nb::arg("metadata"))
      .def("write", &BagWriter::write, nb::arg("channel"), nb::arg("data"), nb::arg("log_ns"), nb::arg("publish_ns"),
           nb::arg("sequence"), nb::arg("source_ns"))
      .def("add_metadata", &BagWriter::add_metadata, nb::arg("name"), nb::arg("fields"))
      .def("close", &BagWriter::close)
      .def("discard", &BagWriter::discard)
      .def("closed", &BagWriter::closed)
      .def("messages", &BagWriter::messages);
}

}  // namespace cardan::python
