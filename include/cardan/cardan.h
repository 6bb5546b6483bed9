/* SPDX-License-Identifier: Apache-2.0 */
/** \file
 * Cardan for every language that can call C: topics as CDR, the wire form of ROS 2. Link with -lcardan.
 *
 * A received message has three parts, which together are its CDR bytes (XCDR1 little-endian, with the header of four
 * bytes). The payload, its largest list of numbers, is in the publisher's memory and is not copied:
 *
 * ```c
 * cardan_subscriber *front = cardan_subscribe("/camera/front", NULL);
 * cardan_sample *sample;
 * while (cardan_wait(front, -1, &sample) == CARDAN_SAMPLE) {
 *   cardan_frame frame = {.struct_size = sizeof(frame)};
 *   cardan_sample_frame(sample, &frame);
 *   fwrite(frame.payload, 1, frame.payload_size, file);
 *   cardan_release(sample);
 * }
 * ```
 *
 * Functions that can fail return NULL or a negative number; cardan_error() then says why. After fork() a child makes
 * new endpoints only after exec. Native layouts (structs without CDR) are for C++ and for bindings of a language.
 *
 * A program keeps working with a newer library. All structs start with struct_size, which the caller sets to sizeof;
 * later versions add fields at the end, and the library reads and writes as much as the caller's struct has. An older
 * library refuses options that it does not know, unless they are 0 or NULL. All other types are handles.
 */
#ifndef CARDAN_C_CARDAN_H
#define CARDAN_C_CARDAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Cause and remedy of this thread's last failure, in words. "" if there was none. Valid until this thread's next call.
 * Any thread; never blocks. */
const char* cardan_error(void);

/* ---------------------------------------------------------------- subscribing */

/** A handle of cardan_subscribe(). */
typedef struct cardan_subscriber cardan_subscriber;
/** A handle of cardan_take() and cardan_wait(): a message that is held until cardan_release(). */
typedef struct cardan_sample cardan_sample;

/** Which users: those whose publications a subscriber accepts, or that may subscribe to a publisher. */
enum {
  CARDAN_OWNER = 0,    /**< the same user only */
  CARDAN_GROUP = 1,    /**< users that share the publisher's group */
  CARDAN_EVERYONE = 2, /**< every user that can reach the run directory */
  CARDAN_POLICY = 3    /**< as the policy file says */
};

/** Set struct_size, and leave 0 or NULL what you do not need:
 * ```c
 * cardan_subscriber_options options = {.struct_size = sizeof(options), .holds = 4};
 * ``` */
typedef struct cardan_subscriber_options {
  size_t struct_size;     /**< sizeof(cardan_subscriber_options): later versions have more fields */
  const char* domain;     /**< NULL: $CARDAN_DOMAIN, or "default" */
  const char* type;       /**< as "sensor_msgs/msg/Image"; NULL: the type of the topic's first publisher */
  const char* definition; /**< ros2msg text of `type`; NULL: the message of Cardan or of ROS 2 with that name */
  uint32_t holds;         /**< samples held at once, 1 to 200; each costs the publisher a slot. 0: 1 */
  uint32_t depth;         /**< samples that wait at most; 0: the topic's depth */
  int best_effort;        /**< 1: a reliable publisher does not wait for this subscriber */
  int background;         /**< 1: is woken after all others, and looks at periodic topics by its own clock (follow()) */
  const char* not_via;    /**< for a bridge: leaves out publications that came through this network; NULL: none */
  int access;             /**< CARDAN_OWNER and so on: whose publications are accepted */
} cardan_subscriber_options;

/** Subscribes to a topic. `options` may be NULL. Returns NULL if the arguments make no sense, the type is unknown
 * (without `type`, the topic must have a publisher), or there is no run directory. Any thread. Blocks while publishers
 * are found, usually below 1 ms, at most a second for a process that is stopped. */
cardan_subscriber* cardan_subscribe(const char* topic, const cardan_subscriber_options* options);

/** Ends it. Samples that are held stay valid until they are released. NULL is allowed. */
void cardan_unsubscribe(cardan_subscriber* subscriber);

/** Results of cardan_take() and cardan_wait(). */
enum {
  CARDAN_ERROR = -1,  /**< the message was malformed (it is skipped), or memory ran out: cardan_error() */
  CARDAN_NOTHING = 0, /**< no new sample; wait: the time is up */
  CARDAN_SAMPLE = 1,  /**< *sample must be released */
  CARDAN_STOPPED = 2, /**< cardan_request_stop() was called, or a signal came after cardan_stop_on_signals() */
  CARDAN_LIMIT = 3    /**< `holds` samples and one more are held: release one */
};

/** Takes the next sample: the newest with depth 1, the oldest that is left otherwise. One thread at a time. Never
 * blocks. */
int cardan_take(cardan_subscriber* subscriber, cardan_sample** sample);
/** The same, and waits for one at most `timeout_ns` (negative: without end). One thread at a time. Blocks. */
int cardan_wait(cardan_subscriber* subscriber, int64_t timeout_ns, cardan_sample** sample);
/** A descriptor that is readable when a sample may be there, for poll(), epoll and event loops. It belongs to the
 * subscriber. -1: none is left. Any thread; never blocks. */
int cardan_fd(cardan_subscriber* subscriber);

/** Samples lost so far. Any thread; takes a mutex. */
uint64_t cardan_missed(const cardan_subscriber* subscriber);
/** Publishers attached now. Any thread; takes a mutex. */
size_t cardan_publishers(const cardan_subscriber* subscriber);
/** The type's name. Valid as long as the subscriber. */
const char* cardan_type(const cardan_subscriber* subscriber);
/** The type's definition as ros2msg text. Valid as long as the subscriber. */
const char* cardan_definition(const cardan_subscriber* subscriber);

/** A message: prefix + payload + suffix are its CDR bytes. Set struct_size before each call:
 * ```c
 * cardan_frame frame = {.struct_size = sizeof(frame)};
 * ``` */
typedef struct cardan_frame {
  size_t struct_size;     /**< sizeof(cardan_frame): later versions have more fields; it stays as the caller set it */
  const uint8_t* prefix;  /**< the bytes before the payload, with the header of four bytes */
  size_t prefix_size;     /**< bytes */
  const uint8_t* payload; /**< in the publisher's memory, read-only; NULL if the type has no list of numbers */
  size_t payload_size;    /**< bytes */
  const uint8_t* suffix;  /**< the bytes after the payload */
  size_t suffix_size;     /**< bytes */
  uint64_t sequence;      /**< in its publisher's stream, from 1 */
  uint64_t missed;        /**< samples lost right before this one */
  int64_t publish_ns;     /**< steady clock (CLOCK_MONOTONIC), nanoseconds */
  int64_t source_ns;      /**< the publisher's own stamp; 0: none */
  uint64_t publisher;     /**< random number of that publisher: `sequence` counts on as long as it is the same */
  int64_t origin_ns;      /**< steady clock: the oldest publication that the message rests on; 0: not known */
} cardan_frame;

/** 0: `frame` is filled, and valid until the sample is released; fields that only a newer library knows are 0. -1: its
 * struct_size is unknown. Any thread; never blocks. */
int cardan_sample_frame(const cardan_sample* sample, cardan_frame* frame);
/** Lets the publisher use the slot again. NULL is allowed. Any thread; never blocks. */
void cardan_release(cardan_sample* sample);

/* ---------------------------------------------------------------- publishing */

/** A handle of cardan_advertise(). */
typedef struct cardan_publisher cardan_publisher;

/** As cardan_subscriber_options: set struct_size and type, and leave 0 or NULL what you do not need. */
typedef struct cardan_publisher_options {
  size_t struct_size;     /**< sizeof(cardan_publisher_options) */
  const char* domain;     /**< NULL: $CARDAN_DOMAIN, or "default" */
  const char* type;       /**< as "sensor_msgs/msg/Image"; required */
  const char* definition; /**< ros2msg text of `type`; NULL: the message of Cardan or of ROS 2 with that name */
  size_t max_bytes;       /**< the largest message as CDR, in bytes; memory is committed for slots in use only */
  uint32_t depth;         /**< samples kept for slow and late subscribers; 0: 1 */
  int reliable;           /**< 1: publishing waits for reliable subscribers, at most 100 ms */
  const char* via;        /**< for a bridge: networks that the messages came through, separated by spaces; NULL: none */
  int access;             /**< CARDAN_OWNER and so on: who may subscribe */
  /** Bytes of memory that a message of max_bytes may need. 0: any number. A type whose elements are larger there than
   *  as CDR can need many times as much. */
  size_t max_memory;
} cardan_publisher_options;

/** Announces a topic. Returns NULL as cardan_subscribe() does, or without memory. Any thread; blocks below 1 ms. */
cardan_publisher* cardan_advertise(const char* topic, const cardan_publisher_options* options);
/** Publishes a message given as CDR (XCDR1, either byte order), copied once into a slot. `source_ns`: the message's own
 * stamp, or 0. 0: done. -1: the bytes are not of the type, or are too large. -2: all slots are held.
 * One thread at a time. Never blocks, unless the topic is reliable. */
int cardan_publish(cardan_publisher* publisher, const void* cdr, size_t size, int64_t source_ns);
/** The next message of cardan_publish() rests on this sample: it is as old as the oldest one that is named
 * (`origin_ns`). Call it once for each. On the publishing thread; never blocks. */
void cardan_rests_on(cardan_publisher* publisher, const cardan_sample* sample);
/** The next message of cardan_publish() was this old when it arrived from another computer, whose clock is another one:
 * what it spent on the way is not known, and does not count. Negative: nobody knows how old it was. For bridges. On the
 * publishing thread; never blocks. */
void cardan_arrived_with_age(cardan_publisher* publisher, int64_t age_ns);
/** Subscribers attached now. Any thread; takes a mutex. */
size_t cardan_subscribers(const cardan_publisher* publisher);
/** Ends the stream. Subscribers get what is left, then the end. NULL is allowed. */
void cardan_unadvertise(cardan_publisher* publisher);

/* ---------------------------------------------------------------- services: questions that get one answer each */

/** A handle of cardan_serve(). */
typedef struct cardan_server cardan_server;
/** A handle of cardan_wait_question(): a question that was taken. */
typedef struct cardan_question cardan_question;
/** A handle of cardan_open_client(). */
typedef struct cardan_client cardan_client;

/** The contract of a service, the same on both sides; and options of one side. As cardan_subscriber_options. */
typedef struct cardan_service_options {
  size_t struct_size;            /**< sizeof(cardan_service_options) */
  const char* domain;            /**< NULL: $CARDAN_DOMAIN, or "default" */
  const char* type;              /**< of a question; required */
  const char* definition;        /**< ros2msg text of `type`; NULL: the message of Cardan or of ROS 2 with that name */
  const char* answer_type;       /**< of an answer; required */
  const char* answer_definition; /**< as `definition` */
  size_t max_bytes;              /**< the largest question as CDR, in bytes; for a client, and for introspection 2 */
  size_t max_answer_bytes;       /**< the largest answer as CDR, in bytes; for a server */
  uint32_t pending;              /**< questions of one client without an answer, 1 to 64. 0: 4 */
  uint32_t holds;                /**< a server: questions kept at once (0: 8); a client: answers (0: 1) */
  int access;                    /**< CARDAN_OWNER and so on: who may ask, and whose server is asked */
  /** Of a server: whether it publishes for recorders, on SERVICE/_service_event, which this user alone can read. 0: nothing;
   * 1: that there was a question or an answer; 2: also their contents, up to max_bytes and max_answer_bytes. */
  int introspection;
} cardan_service_options;

/** Serves. Returns NULL if the arguments make no sense, a type is unknown, the service has a server, or there is no
 * memory. Any thread; blocks for about 1 ms. */
cardan_server* cardan_serve(const char* service, const cardan_service_options* options);
/** Takes the oldest question of all clients; waits for one at most `timeout_ns` (0: not at all; negative: without end).
 * A question is taken at most once; one that is overdue or cancelled is not delivered. Results as cardan_take(), with
 * CARDAN_SAMPLE for a question. One thread at a time. Blocks unless `timeout_ns` is 0. */
int cardan_wait_question(cardan_server* server, int64_t timeout_ns, cardan_question** question);
/** As cardan_fd(). */
int cardan_server_fd(cardan_server* server);
/** Ends it: clients that wait are told. Questions that were taken stay valid until they are freed. NULL is allowed. */
void cardan_stop_serving(cardan_server* server);

/** The question's bytes, as cardan_sample_frame(). Valid until the question is freed. */
int cardan_question_frame(const cardan_question* question, cardan_frame* frame);
/** Answers it with a message given as CDR, copied once into a slot. 0: done. -1: the bytes are not of the type, or are
 * too large, or it has an answer already. -2: another answer to this client is being filled. -3: nobody waits for it any
 * more. One thread at a time. May wait for another answer to the same client. */
int cardan_reply(cardan_question* question, const void* cdr, size_t size);
/** The client gets no answer, but the reason. -1: it has an answer already. One thread at a time; allocates. */
int cardan_decline(cardan_question* question, const char* why);
/** 1: nobody waits for the answer any more. Any thread; never blocks. */
int cardan_question_cancelled(const cardan_question* question);
/** Frees it. One without an answer is declined. NULL is allowed. */
void cardan_free_question(cardan_question* question);

/** Opens a client. It finds the server, also one that starts later or again. Returns NULL as cardan_serve() does. Any
 * thread; blocks for some milliseconds, at most 1 s when the server does not answer. */
cardan_client* cardan_open_client(const char* service, const cardan_service_options* options);
/** Asks with a message given as CDR, copied once into a slot. `timeout_ns` travels with the question. Returns a number
 * for cardan_answer(); 0: it was not asked, cardan_error() says why. One thread at a time, as the next three. Never
 * blocks. */
uint64_t cardan_ask(cardan_client* client, const void* cdr, size_t size, int64_t timeout_ns);
/** CARDAN_SAMPLE: *answer must be released, and the question is done. CARDAN_NOTHING: it has none yet, only with `wait`
 * 0. CARDAN_STOPPED. CARDAN_ERROR: it gets none, cardan_error() says why. `wait` 1: blocks, at most until the question's
 * time-out. */
int cardan_answer(cardan_client* client, uint64_t number, int wait, cardan_sample** answer);
/** The answer is not wanted any more. */
void cardan_cancel(cardan_client* client, uint64_t number);
/** Asks, and waits for the answer, first for a server. As cardan_answer() with `wait` 1. Blocks. */
int cardan_call(cardan_client* client, const void* cdr, size_t size, int64_t timeout_ns, cardan_sample** answer);
/** As cardan_fd(): readable when the outcome of a question may be known. */
int cardan_client_fd(cardan_client* client);
/** Ends it, and cancels its questions. Answers stay valid until they are released. NULL is allowed. */
void cardan_close_client(cardan_client* client);

/* ---------------------------------------------------------------- the whole */

/** The topics of a domain (NULL: the usual one), as one JSON object:
 * ```json
 * {"run_directory": "/run/cardan/default", "problems": [], "topics": [
 *   {"topic": "/imu", "type": "sensor_msgs/msg/Imu", "publishers": 1, "subscribers": 2, "depth": 4, "max_bytes": 0,
 *    "reliable": false, "owner": true, "via": []}]}
 * ```
 * depth, max_bytes (of a payload) and reliable: the most that one of its publishers offers. owner: one of them is of
 * this user, with CARDAN_OWNER: no other user may read it. via: the networks that messages of one of them came through.
 * Free it with cardan_free(). NULL: there is no run directory.
 * Any thread. Blocks as long as processes need to answer, at most a second for each that is stopped. */
char* cardan_topics_json(const char* domain);
/** The description of a type from which ROS 2 makes its hash: "RIHS01_" and the SHA-256 of this text in hexadecimal
 * digits (REP-2016). `definition`: its ros2msg text; NULL: the message of Cardan or of ROS 2 with that name. Free it
 * with cardan_free(). NULL: the type is unknown or malformed, or has a name that ROS 2 does not allow. Any thread;
 * never blocks. */
char* cardan_type_description(const char* type, const char* definition);
/** Frees a text of this library. NULL is allowed. */
void cardan_free(char* text);

/** SIGINT and SIGTERM end every wait with CARDAN_STOPPED. Call it once, early. */
void cardan_stop_on_signals(void);
/** The same from the program. Any thread; never blocks. */
void cardan_request_stop(void);
/** 1: a stop was requested. Any thread; never blocks. */
int cardan_stopping(void);

#ifdef __cplusplus
}
#endif

#endif
