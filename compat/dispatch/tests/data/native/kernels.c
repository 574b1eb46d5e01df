// A small library after IREE's executable library interface, version 6, whose kernels report what they
// were given, or fail. Tests load the files built from it; see README.md for the commands.

#include <stdint.h>

typedef struct { uint32_t x, y; uint16_t z; } __attribute__((packed)) grid_t;

typedef struct {
  const uint32_t* constants;
  int (*import_thunk)(void*, void*, void*, void*);
  void* const* import_functions;
  void* const* import_contexts;
  uint64_t processor[8];
} environment_t;

typedef struct {
  grid_t workgroup_size;
  uint16_t constant_count;
  grid_t workgroup_count;
  uint8_t max_concurrency;
  uint8_t binding_count;
  const uint32_t* constants;
  void* const* bindings;
  const uint64_t* lengths;
} dispatch_state_t;

typedef struct {
  grid_t id;
  uint16_t reserved;
  uint32_t processor;
  void* local_memory;
  uint32_t local_memory_size;
} workgroup_state_t;

typedef int (*kernel_t)(const environment_t*, const dispatch_state_t*, const workgroup_state_t*);

#define RECORD_WORDS 32

#ifndef ANSWERS_TO
#define ANSWERS_TO 6
#endif

// Writes all that it was given to binding 0, RECORD_WORDS words for each workgroup.
static int report(const environment_t* e, const dispatch_state_t* d, const workgroup_state_t* w) {
  uint64_t index = w->id.x + (uint64_t)d->workgroup_count.x * (w->id.y + (uint64_t)d->workgroup_count.y * w->id.z);
  uint64_t* out = (uint64_t*)d->bindings[0] + index * RECORD_WORDS;
  *out++ = d->workgroup_size.x;
  *out++ = d->workgroup_size.y;
  *out++ = d->workgroup_size.z;
  *out++ = d->workgroup_count.x;
  *out++ = d->workgroup_count.y;
  *out++ = d->workgroup_count.z;
  *out++ = d->max_concurrency;
  *out++ = d->constant_count;
  *out++ = d->constant_count > 0 ? d->constants[0] : 0;
  *out++ = d->constant_count > 1 ? d->constants[1] : 0;
  *out++ = d->binding_count;
  *out++ = d->lengths[0];
  *out++ = w->id.x;
  *out++ = w->id.y;
  *out++ = w->id.z;
  *out++ = w->reserved;
  *out++ = w->local_memory_size;
  // Every record must be aligned to 16 bytes, and local memory and bindings to 64.
  *out++ = ((uintptr_t)e | (uintptr_t)d | (uintptr_t)w) % 16;
  *out++ = ((uintptr_t)w->local_memory | (uintptr_t)d->bindings[0]) % 64;
  // The one import is optional, and the host has none.
  *out++ = (uintptr_t)e->import_functions[0] | (uintptr_t)e->import_contexts[0];
  *out++ = w->processor;
  // Local memory belongs to this workgroup alone, from its first byte to its last.
  uint8_t* local = w->local_memory;
  if (w->local_memory_size > 0) local[0] = local[w->local_memory_size - 1] = 1;
  return 0;
}

// Returns the constant in the workgroup whose x is 3; marks the workgroups that ran in binding 0.
static int fail(const environment_t* e, const dispatch_state_t* d, const workgroup_state_t* w) {
  (void)e;
  ((uint8_t*)d->bindings[0])[w->id.x] = 1;
  return w->id.x == 3 ? (int)d->constants[0] : 0;
}

#ifdef UNDEFINED
int function_of_nobody(void);
static int undefined(const environment_t* e, const dispatch_state_t* d, const workgroup_state_t* w) {
  (void)e, (void)d, (void)w;
  return function_of_nobody();
}
#define LAST undefined
#else
#define LAST report
#endif

typedef struct {
  uint64_t flags;
  uint16_t local_memory_pages;
  uint8_t constants, bindings;
  uint32_t workgroup_size_x, workgroup_size_y;
  uint16_t workgroup_size_z, parameters;
  uint64_t reserved[5];
} attributes_t;

static const struct { uint32_t version, pad; const char* name; uint32_t features, sanitizer; } header = {
    6, 0, "native_kernels", 0, 0};

#ifdef REQUIRED_IMPORT
static const char* const imports[] = {"?some_function", "needed_function"};
#else
static const char* const imports[] = {"?some_function"};
#endif

static const kernel_t kernels[] = {report, fail, report, LAST};
static const char* const names[] = {"report", "fail", "report_in_sequence", "report_sized"};
static const attributes_t attributes[] = {
    {0, 2, 2, 1, 4, 3, 2, 0, {0}},
    {0, 0, 1, 1, 1, 1, 1, 0, {0}},
    {1, 0, 0, 1, 1, 1, 1, 0, {0}},
    {2, 0, 0, 1, 1, 1, 1, 0, {0}},
};

static const struct {
  const void* header;
  uint32_t import_count; const char* const* imports;
  uint32_t export_count; const kernel_t* kernels; const attributes_t* attributes;
  const void* parameters; const void* occupancy;
  const char* const* names; const void* tags; const void* parameter_names;
  const void* locations; const void* stages;
  uint32_t constant_count;
  uint32_t source_count; const void* sources;
} library = {&header, sizeof imports / sizeof *imports, imports, 4, kernels, attributes, 0, 0, names, 0, 0, 0, 0, 0, 0, 0};

__attribute__((visibility("default")))
const void* iree_hal_executable_library_query(uint32_t version, const void* environment) {
  (void)environment;
  return version == ANSWERS_TO ? &library : 0;
}
