// SPDX-License-Identifier: Apache-2.0
// How a program starts with glibc 2.28; the linker wraps the start file's call (scripts/older_glibc.sh).
// From 2.34 on, the C library calls the constructors of a program. Before, the program's own start file gave it a
// function that did.
typedef int Main(int, char**, char**);
typedef void Init(int, char**, char**);
extern Init* __init_array_start[] __attribute__((visibility("hidden")));
extern Init* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);
extern int __real___libc_start_main(Main*, int, char**, Init*, void (*)(void), void (*)(void), void*);

static void construct(int argc, char** argv, char** environment) {
  _init();
  for (Init** init = __init_array_start; init != __init_array_end; ++init) (*init)(argc, argv, environment);
}

int __wrap___libc_start_main(Main* program, int argc, char** argv, Init* init, void (*end)(void),
                             void (*loader_end)(void), void* stack) {
  return __real___libc_start_main(program, argc, argv, init ? init : construct, end, loader_end, stack);
}
