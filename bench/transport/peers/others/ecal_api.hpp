// SPDX-License-Identifier: Apache-2.0
// The functions of eCAL 6.1 that the bench calls, in our own words: the wheel `eclipse-ecal` has the library, and no
// headers. Only what other programs may call too is declared, with the names that the library exports. Its classes keep
// a pointer to their parts; its configuration is only passed on, so that its layout does not matter here. All other
// types in its interface are of libstdc++, which the wheel has of the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace eCAL {

namespace Publisher {
struct Configuration;
}
namespace Subscriber {
struct Configuration;
}
struct STopicId;

struct SDataTypeInformation {
  std::string name, encoding, descriptor;
};

struct SReceiveCallbackData {
  const void* buffer;
  std::size_t buffer_size;
  std::int64_t send_timestamp;
  std::int64_t send_clock;
};

namespace Init {
inline constexpr unsigned kPublisher = 1, kSubscriber = 2;
}

const std::string& GetVersionString();
bool Initialize(const std::string& unit_name, unsigned components);
bool Finalize();
/// Of the configuration file that Initialize() has read.
const Publisher::Configuration& GetPublisherConfiguration();
const Subscriber::Configuration& GetSubscriberConfiguration();

/// It writes the message, into memory that eCAL gives it while Send() runs.
class CPayloadWriter {
 public:
  CPayloadWriter() = default;
  CPayloadWriter(const CPayloadWriter&) = default;
  CPayloadWriter& operator=(const CPayloadWriter&) = default;
  virtual ~CPayloadWriter() = default;
  virtual bool WriteFull(void* buffer, std::size_t size) = 0;
  virtual bool WriteModified(void* buffer, std::size_t size) { return WriteFull(buffer, size); }
  virtual std::size_t GetSize() = 0;
};

class CPublisherImpl;
class CPublisher {
 public:
  CPublisher(const std::string& topic, const SDataTypeInformation& type, const Publisher::Configuration& configuration);
  CPublisher(const CPublisher&) = delete;
  CPublisher& operator=(const CPublisher&) = delete;
  virtual ~CPublisher();
  /// `time`: of the message, in µs; -1: now.
  bool Send(CPayloadWriter& payload, long long time);
  [[nodiscard]] std::size_t GetSubscriberCount() const;

 private:
  std::weak_ptr<CPublisherImpl> impl_;
};

class CSubscriberImpl;
class CSubscriber {
 public:
  CSubscriber(const std::string& topic, const SDataTypeInformation& type,
              const Subscriber::Configuration& configuration);
  CSubscriber(const CSubscriber&) = delete;
  CSubscriber& operator=(const CSubscriber&) = delete;
  virtual ~CSubscriber();
  void SetReceiveCallback(
      std::function<void(const STopicId&, const SDataTypeInformation&, const SReceiveCallbackData&)> callback);
  void RemoveReceiveCallback();
  [[nodiscard]] std::size_t GetPublisherCount() const;

 private:
  std::weak_ptr<CSubscriberImpl> impl_;
};

}  // namespace eCAL
