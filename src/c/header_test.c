/* SPDX-License-Identifier: Apache-2.0
 * The header and its examples as a C compiler reads them. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cardan/cardan.h"

int c_program(const char* topic, char* seen, size_t room);

/* Publishes a text and reads it back; returns the steps that succeeded. */
int c_program(const char* topic, char* seen, size_t room) {
  static const unsigned char hello[] = {0, 1, 0, 0, 6, 0, 0, 0, 'h', 'e', 'l', 'l', 'o', 0};
  cardan_publisher_options publishing = {
      .struct_size = sizeof(publishing), .type = "std_msgs/msg/String", .definition = "string data", .max_bytes = 64};
  cardan_publisher* out = cardan_advertise(topic, &publishing);
  if (out == NULL) return 0;
  cardan_subscriber_options subscribing = {.struct_size = sizeof(subscribing), .holds = 2};
  cardan_subscriber* in = cardan_subscribe(topic, &subscribing);
  if (in == NULL) return 1;
  if (cardan_publish(out, hello, sizeof(hello), 42) != 0) return 2;
  struct pollfd ready = {.fd = cardan_fd(in), .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, -1) != 1) return 3;
  cardan_sample* sample;
  if (cardan_wait(in, -1, &sample) != CARDAN_SAMPLE) return 4;
  cardan_frame frame = {.struct_size = sizeof(frame)};
  if (cardan_sample_frame(sample, &frame) != 0) return 4;
  const size_t size = frame.prefix_size + frame.payload_size + frame.suffix_size;
  if (size != sizeof(hello) || frame.source_ns != 42 || frame.sequence != 1) return 5;
  snprintf(seen, room, "%s", (const char*)frame.prefix + 8);
  cardan_release(sample);
  if (cardan_take(in, &sample) != CARDAN_NOTHING || sample != NULL) return 6;
  cardan_unadvertise(out);
  cardan_unsubscribe(in);
  return 7;
}
