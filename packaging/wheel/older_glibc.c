// SPDX-License-Identifier: Apache-2.0
// Functions that compilers and libraries of newer systems take from glibc, and glibc 2.28 lacks. scripts/older_glibc.sh makes a
// static library of it, which comes before the C library when a wheel is linked. Nothing here is visible outside of the
// file that it becomes part of.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// A function of the C library that runs, where it has it.
typedef struct {
  const char* name;
  void* found;
  char looked;
} Newer;
static void* find(Newer* newer) {
  if (!__atomic_load_n(&newer->looked, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&newer->found, dlsym(RTLD_DEFAULT, newer->name), __ATOMIC_RELAXED);
    __atomic_store_n(&newer->looked, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&newer->found, __ATOMIC_RELAXED);
}

// ---------------------------------------------------------------- files: functions of their own since 2.33
#ifdef __x86_64__
enum { kStatVersion = 1 };
#else
enum { kStatVersion = 0 };
#endif
extern int __xstat(int, const char*, struct stat*);
extern int __fxstat(int, int, struct stat*);
extern int __lxstat(int, const char*, struct stat*);
extern int __fxstatat(int, int, const char*, struct stat*, int);

int stat(const char* path, struct stat* to) { return __xstat(kStatVersion, path, to); }
int fstat(int file, struct stat* to) { return __fxstat(kStatVersion, file, to); }
int lstat(const char* path, struct stat* to) { return __lxstat(kStatVersion, path, to); }
int fstatat(int folder, const char* path, struct stat* to, int flags) {
  return __fxstatat(kStatVersion, folder, path, to, flags);
}
int stat64(const char* path, struct stat64* to) { return __xstat(kStatVersion, path, (struct stat*)to); }
int fstat64(int file, struct stat64* to) { return __fxstat(kStatVersion, file, (struct stat*)to); }
int lstat64(const char* path, struct stat64* to) { return __lxstat(kStatVersion, path, (struct stat*)to); }
int fstatat64(int folder, const char* path, struct stat64* to, int flags) {
  return __fxstatat(kStatVersion, folder, path, (struct stat*)to, flags);
}

// ---------------------------------------------------------------- threads
char __libc_single_threaded = 0;  // since 2.32; it only saves atomic operations

pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }  // since 2.30

// Since 2.30. Without it the wait goes by the wall clock, which may be set: so it ends each second, as if woken without
// a reason.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  typedef int Wait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  static Newer newer = {"pthread_cond_clockwait", NULL, 0};
  Wait* found = (Wait*)find(&newer);
  if (found) return found(condition, mutex, clock, until);
  enum { kSecond = 1000000000 };
  struct timespec now, end;
  clock_gettime(clock, &now);
  const int64_t left = ((int64_t)until->tv_sec - now.tv_sec) * kSecond + until->tv_nsec - now.tv_nsec;
  const int64_t step = left < 0 ? 0 : left < kSecond ? left : kSecond;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += (end.tv_nsec + step) / kSecond;
  end.tv_nsec = (end.tv_nsec + step) % kSecond;
  const int result = pthread_cond_timedwait(condition, mutex, &end);
  return result == ETIMEDOUT && step < left ? 0 : result;
}

// ---------------------------------------------------------------- processes
// Since 2.34. Without it, the descriptors that are open now are closed.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int from) {
  typedef int Add(posix_spawn_file_actions_t*, int);
  static Newer newer = {"posix_spawn_file_actions_addclosefrom_np", NULL, 0};
  Add* add = (Add*)find(&newer);
  if (add) return add(actions, from);
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return errno;
  int result = 0;
  const struct dirent* entry;
  while (!result && (entry = readdir(folder))) {
    const int file = atoi(entry->d_name);  // 0 for . and ..
    if (file >= from) result = posix_spawn_file_actions_addclose(actions, file);
  }
  closedir(folder);
  return result;
}

// ---------------------------------------------------------------- random numbers: since 2.36
uint32_t arc4random(void) {
  uint32_t number;
  if (getentropy(&number, sizeof number)) abort();
  return number;
}

// ---------------------------------------------------------------- numbers in text: functions of their own since 2.38
#define NUMBER(type, name)                                           \
  extern type older_##name(const char*, char**, int) __asm__(#name); \
  type __isoc23_##name(const char* text, char** end, int base);      \
  type __isoc23_##name(const char* text, char** end, int base) { return older_##name(text, end, base); }
NUMBER(long, strtol)
NUMBER(unsigned long, strtoul)
NUMBER(long long, strtoll)
NUMBER(unsigned long long, strtoull)

#define SCAN(name, from)                                                           \
  extern int older_##name(from, const char*, va_list) __asm__("__isoc99_v" #name); \
  int __isoc23_##name(from source, const char* format, ...);                       \
  int __isoc23_##name(from source, const char* format, ...) {                      \
    va_list values;                                                                \
    va_start(values, format);                                                      \
    const int count = older_##name(source, format, values);                        \
    va_end(values);                                                                \
    return count;                                                                  \
  }
SCAN(sscanf, const char*)
SCAN(fscanf, FILE*)
