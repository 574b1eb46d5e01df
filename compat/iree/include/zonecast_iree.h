// zonecast as a tracing provider for IREE, and for any C or C++ program.
//
// Inside IREE: build it with
//   -DIREE_ENABLE_RUNTIME_TRACING=ON
//   -DIREE_TRACING_PROVIDER=/path/to/libzonecast_iree.a
//   -DIREE_TRACING_PROVIDER_H=/path/to/zonecast_iree.h
// IREE's own iree/base/tracing.h then includes this header, and documents the macros.
//
// By itself: include it, and link the library. All macros but IREE_RETURN_AND_END_ZONE_IF_ERROR
// work as they do in IREE; -DIREE_TRACING_FEATURES_REQUESTED=0 turns them into nothing.
//
// Needs C11 or C++11 with GCC or Clang.
#ifndef ZONECAST_IREE_H_
#define ZONECAST_IREE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Which of the features asked for are there
//===----------------------------------------------------------------------===//

#if !defined(IREE_TRACING_FEATURE_INSTRUMENTATION)
#define ZONECAST_IREE_BY_ITSELF 1
#define IREE_TRACING_FEATURE_INSTRUMENTATION 0x001
#define IREE_TRACING_FEATURE_INSTRUMENTATION_CALLSTACKS 0x002
#define IREE_TRACING_FEATURE_INSTRUMENTATION_DEVICE 0x004
#define IREE_TRACING_FEATURE_ALLOCATION_TRACKING 0x008
#define IREE_TRACING_FEATURE_ALLOCATION_CALLSTACKS 0x010
#define IREE_TRACING_FEATURE_FAST_LOCKS 0x020
#define IREE_TRACING_FEATURE_SLOW_LOCKS 0x040
#define IREE_TRACING_FEATURE_LOG_MESSAGES 0x080
#define IREE_TRACING_FEATURE_FIBERS 0x100
#endif

#if !defined(IREE_TRACING_FEATURES_REQUESTED)
// Zones, devices, messages, memory and fibers: what IREE asks for at its mode 3.
#define IREE_TRACING_FEATURES_REQUESTED 0x19D
#endif
#if !defined(IREE_TRACING_MAX_CALLSTACK_DEPTH)
#define IREE_TRACING_MAX_CALLSTACK_DEPTH 16
#endif

#if !defined(IREE_TRACING_FEATURES)
#if (IREE_TRACING_FEATURES_REQUESTED) & 0x040
#define IREE_TRACING_FEATURES ((IREE_TRACING_FEATURES_REQUESTED) & 0x1FF)
#else
// IREE does not compile with fast locks and without slow ones.
#define IREE_TRACING_FEATURES ((IREE_TRACING_FEATURES_REQUESTED) & 0x1DF)
#endif
#endif

#define ZONECAST_IREE_HAS_(bits) (((IREE_TRACING_FEATURES) & (bits)) != 0)

// Names a zone that is open; 0 is none.
typedef uint64_t iree_zone_id_t;

// A place in the source. Lives, with its texts, as long as the program.
typedef struct iree_tracing_location_t {
  const char* name;  // NULL for the function's
  const char* function_name;
  const char* file_name;
  uint32_t line;
  uint32_t color;  // 0xRRGGBB, 0 for none
} iree_tracing_location_t;

#if defined(__cplusplus)
#define ZONECAST_IREE_API extern "C"
#else
#define ZONECAST_IREE_API extern
#endif

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

// Maps a module (.vmfb or executable) for as long as the program runs. Zones of dispatches
// whose function it exports are from then on shown at that function's own place, with its own
// text. False, and a sentence on standard error, if it cannot be read. Modules can be named in the
// environment instead: ZONECAST_IREE_MODULES=one.vmfb:two.vmfb
//
// ZONECAST_IREE_CORRECT=0 in the environment leaves all zones where the runtime says they are.
ZONECAST_IREE_API bool zonecast_iree_register_module(const char* path);

// The bytes of a module, which is registered if it has not been. Give them to the runtime, and
// the texts in them are never copied. NULL if it cannot be read.
ZONECAST_IREE_API const uint8_t* zonecast_iree_module_bytes(const char* path, size_t* out_length);

//===----------------------------------------------------------------------===//
// Instrumentation
//===----------------------------------------------------------------------===//

#if ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_INSTRUMENTATION)

ZONECAST_IREE_API void zonecast_iree_app_enter(void);
ZONECAST_IREE_API void zonecast_iree_app_exit(int exit_code);
ZONECAST_IREE_API void zonecast_iree_app_info(const char* text, size_t length);
ZONECAST_IREE_API void zonecast_iree_thread_name(const char* name);
ZONECAST_IREE_API void zonecast_iree_fiber_enter(const char* name);
ZONECAST_IREE_API void zonecast_iree_fiber_leave(void);
ZONECAST_IREE_API void zonecast_iree_source(const char* path, size_t path_length,
                                            const void* text, size_t length);

ZONECAST_IREE_API iree_zone_id_t zonecast_iree_zone_begin(const iree_tracing_location_t* location);
ZONECAST_IREE_API iree_zone_id_t zonecast_iree_zone_begin_callstack(
    const iree_tracing_location_t* location, uint32_t depth);
ZONECAST_IREE_API iree_zone_id_t zonecast_iree_zone_begin_dynamic(
    const iree_tracing_location_t* location, const char* name, size_t length, uint32_t depth);
ZONECAST_IREE_API iree_zone_id_t zonecast_iree_zone_begin_external(
    const char* file, size_t file_length, uint32_t line, const char* function,
    size_t function_length, const char* name, size_t name_length, uint32_t depth);
ZONECAST_IREE_API void zonecast_iree_zone_end(iree_zone_id_t zone);
ZONECAST_IREE_API void zonecast_iree_zone_text(iree_zone_id_t zone, const char* text, size_t length);
ZONECAST_IREE_API void zonecast_iree_zone_value(iree_zone_id_t zone, int64_t value);
ZONECAST_IREE_API void zonecast_iree_zone_color(iree_zone_id_t zone, uint32_t color);

// `severity`: 0 trace, 1 debug, 2 info, 3 warning, 4 error.
ZONECAST_IREE_API void zonecast_iree_message(uint32_t severity, uint32_t color, const char* text,
                                             size_t length);

// Names of plots and frames are kept by reference.
ZONECAST_IREE_API void zonecast_iree_plot_style(const char* plot, uint32_t type, bool step,
                                                bool fill, uint32_t color);
ZONECAST_IREE_API void zonecast_iree_plot_i64(const char* plot, int64_t value);
ZONECAST_IREE_API void zonecast_iree_plot_f32(const char* plot, float value);
ZONECAST_IREE_API void zonecast_iree_plot_f64(const char* plot, double value);
ZONECAST_IREE_API void zonecast_iree_frame_mark(const char* frame);
ZONECAST_IREE_API void zonecast_iree_frame_begin(const char* frame);
ZONECAST_IREE_API void zonecast_iree_frame_end(const char* frame);

// strlen that takes NULL. A function, since compilers warn of a literal compared with NULL.
static inline size_t zonecast_iree_length(const char* text) { return text ? strlen(text) : 0; }

#define ZONECAST_IREE_PASTE_(a, b) a##b
#define ZONECAST_IREE_PASTE(a, b) ZONECAST_IREE_PASTE_(a, b)
// The static of a zone: one line may begin several.
#define ZONECAST_IREE_PLACE_(id) \
  ZONECAST_IREE_PASTE(zonecast_iree_place_, ZONECAST_IREE_PASTE(id##_, __LINE__))
#define ZONECAST_IREE_LOCATION_(variable, name)        \
  static const iree_tracing_location_t variable = {    \
      (name), __FUNCTION__, __FILE__, (uint32_t)__LINE__, 0}

#if ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_INSTRUMENTATION_CALLSTACKS)
#define ZONECAST_IREE_ZONE_DEPTH (IREE_TRACING_MAX_CALLSTACK_DEPTH)
#define ZONECAST_IREE_BEGIN_(place) \
  zonecast_iree_zone_begin_callstack(&(place), ZONECAST_IREE_ZONE_DEPTH)
#else
#define ZONECAST_IREE_ZONE_DEPTH 0
#define ZONECAST_IREE_BEGIN_(place) zonecast_iree_zone_begin(&(place))
#endif

// Bare tokens: it wraps members, declarations and blocks.
#define IREE_TRACE(...) __VA_ARGS__

#define IREE_TRACE_APP_ENTER() zonecast_iree_app_enter()
#define IREE_TRACE_APP_EXIT(exit_code) zonecast_iree_app_exit(exit_code)
#define IREE_TRACE_SET_APP_INFO(value, value_length) \
  zonecast_iree_app_info((value), (size_t)(value_length))
#define IREE_TRACE_SET_THREAD_NAME(name) zonecast_iree_thread_name(name)
#define IREE_TRACE_PUBLISH_SOURCE_FILE(filename, filename_length, content, content_length) \
  zonecast_iree_source((filename), (size_t)(filename_length), (const void*)(content),      \
                       (size_t)(content_length))

#if ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_FIBERS)
#define IREE_TRACE_FIBER_ENTER(fiber) zonecast_iree_fiber_enter((const char*)(intptr_t)(fiber))
#define IREE_TRACE_FIBER_LEAVE() zonecast_iree_fiber_leave()
#else
// A number then, and not to be followed.
#define IREE_TRACE_FIBER_ENTER(fiber) ((void)(fiber))
#define IREE_TRACE_FIBER_LEAVE() ((void)0)
#endif

#define IREE_TRACE_ZONE_BEGIN(zone_id) IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, NULL)
#define IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, name_literal)             \
  ZONECAST_IREE_LOCATION_(ZONECAST_IREE_PLACE_(zone_id), name_literal); \
  iree_zone_id_t zone_id = ZONECAST_IREE_BEGIN_(ZONECAST_IREE_PLACE_(zone_id))
#define IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(zone_id, name, name_length)            \
  ZONECAST_IREE_LOCATION_(ZONECAST_IREE_PLACE_(zone_id), NULL);                    \
  iree_zone_id_t zone_id = zonecast_iree_zone_begin_dynamic(                       \
      &ZONECAST_IREE_PLACE_(zone_id), (name), (size_t)(name_length), ZONECAST_IREE_ZONE_DEPTH)
#define IREE_TRACE_ZONE_BEGIN_EXTERNAL(zone_id, file_name, file_name_length, line,            \
                                       function_name, function_name_length, name, name_length) \
  iree_zone_id_t zone_id = zonecast_iree_zone_begin_external(                                  \
      (file_name), (size_t)(file_name_length), (uint32_t)(line), (function_name),              \
      (size_t)(function_name_length), (name), (size_t)(name_length), ZONECAST_IREE_ZONE_DEPTH)
#define IREE_TRACE_ZONE_END(zone_id) zonecast_iree_zone_end(zone_id)

// IREE_RETURN_AND_EVAL_IF_ERROR is IREE's, in iree/base/status.h.
#define IREE_RETURN_AND_END_ZONE_IF_ERROR(zone_id, ...) \
  IREE_RETURN_AND_EVAL_IF_ERROR(IREE_TRACE_ZONE_END(zone_id), __VA_ARGS__)
#define IREE_RETURN_AND_END_ZONE(zone_id, ...) \
  do {                                         \
    IREE_TRACE_ZONE_END(zone_id);              \
    return (__VA_ARGS__);                      \
  } while (0)

#define IREE_TRACE_ZONE_SET_COLOR(zone_id, color_xrgb) \
  zonecast_iree_zone_color((zone_id), (uint32_t)(color_xrgb) & 0xFFFFFFu)
#define IREE_TRACE_ZONE_APPEND_VALUE_I64(zone_id, value) \
  zonecast_iree_zone_value((zone_id), (int64_t)(value))

// With two arguments a C string, with three a text and its length.
#define IREE_TRACE_ZONE_APPEND_TEXT(...)                                               \
  ZONECAST_IREE_FOURTH_(__VA_ARGS__, ZONECAST_IREE_TEXT_3_, ZONECAST_IREE_TEXT_2_, 0) \
  (__VA_ARGS__)
#define ZONECAST_IREE_FOURTH_(a, b, c, d, ...) d
#define ZONECAST_IREE_TEXT_2_(zone_id, text) \
  zonecast_iree_zone_text((zone_id), (text), zonecast_iree_length(text))
#define ZONECAST_IREE_TEXT_3_(zone_id, text, length) \
  zonecast_iree_zone_text((zone_id), (text), (size_t)(length))

#define IREE_TRACE_SET_PLOT_TYPE(name, plot_type, step, fill, color) \
  zonecast_iree_plot_style((name), (uint32_t)(plot_type), (step), (fill), (color))
#define IREE_TRACE_PLOT_VALUE_I64(name, value) zonecast_iree_plot_i64((name), (int64_t)(value))
#define IREE_TRACE_PLOT_VALUE_F32(name, value) zonecast_iree_plot_f32((name), (value))
#define IREE_TRACE_PLOT_VALUE_F64(name, value) zonecast_iree_plot_f64((name), (value))

#define IREE_TRACE_FRAME_MARK() zonecast_iree_frame_mark(NULL)
#define IREE_TRACE_FRAME_MARK_NAMED(name_literal) zonecast_iree_frame_mark(name_literal)
#define IREE_TRACE_FRAME_MARK_BEGIN_NAMED(name_literal) zonecast_iree_frame_begin(name_literal)
#define IREE_TRACE_FRAME_MARK_END_NAMED(name_literal) zonecast_iree_frame_end(name_literal)

#define ZONECAST_IREE_SEVERITY_ERROR 4u
#define ZONECAST_IREE_SEVERITY_WARNING 3u
#define ZONECAST_IREE_SEVERITY_INFO 2u
#define ZONECAST_IREE_SEVERITY_VERBOSE 1u
#define ZONECAST_IREE_SEVERITY_DEBUG 0u
#define IREE_TRACE_MESSAGE(level, value_literal) \
  IREE_TRACE_MESSAGE_DYNAMIC(level, value_literal, zonecast_iree_length(value_literal))
#define IREE_TRACE_MESSAGE_COLORED(color, value_literal) \
  IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, value_literal, zonecast_iree_length(value_literal))
#define IREE_TRACE_MESSAGE_DYNAMIC(level, value, value_length)                            \
  zonecast_iree_message(ZONECAST_IREE_SEVERITY_##level, IREE_TRACING_MESSAGE_LEVEL_##level, \
                        (value), (size_t)(value_length))
#define IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, value, value_length)              \
  zonecast_iree_message(ZONECAST_IREE_SEVERITY_INFO, (uint32_t)(color) & 0xFFFFFFu, \
                        (value), (size_t)(value_length))

#if defined(__cplusplus)
namespace zonecast_iree {
// A zone that ends with its scope.
class Scope {
 public:
  explicit Scope(iree_zone_id_t zone) : zone_(zone) {}
  ~Scope() { zonecast_iree_zone_end(zone_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  operator iree_zone_id_t() const { return zone_; }

 private:
  const iree_zone_id_t zone_;
};
}  // namespace zonecast_iree
#define IREE_TRACE_SCOPE() IREE_TRACE_SCOPE_NAMED(nullptr)
#define IREE_TRACE_SCOPE_NAMED(name_literal)                         \
  ZONECAST_IREE_LOCATION_(ZONECAST_IREE_PLACE_(scope), name_literal); \
  const ::zonecast_iree::Scope zonecast_iree_scope_(                 \
      ZONECAST_IREE_BEGIN_(ZONECAST_IREE_PLACE_(scope)))
#define IREE_TRACE_SCOPE_ID (static_cast<iree_zone_id_t>(zonecast_iree_scope_))
#endif  // __cplusplus

#endif  // INSTRUMENTATION

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

#if ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_INSTRUMENTATION_DEVICE)

typedef enum iree_tracing_gpu_context_type_e {
  IREE_TRACING_GPU_CONTEXT_TYPE_INVALID = 0,
  IREE_TRACING_GPU_CONTEXT_TYPE_OPENGL = 1,
  IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN = 2,
  IREE_TRACING_GPU_CONTEXT_TYPE_OPENCL = 3,
  IREE_TRACING_GPU_CONTEXT_TYPE_DIRECT3D12 = 4,
  IREE_TRACING_GPU_CONTEXT_TYPE_DIRECT3D11 = 5
} iree_tracing_gpu_context_type_t;

// The host's clock, in nanoseconds, and how many of them a second has.
ZONECAST_IREE_API int64_t iree_tracing_time(void);
ZONECAST_IREE_API int64_t iree_tracing_frequency(void);

// A timeline for a device's stream. `gpu_timestamp` of the device's clock is `cpu_timestamp` of
// iree_tracing_time(), about; its ticks take `timestamp_period` nanoseconds. 255 is no context: what
// is said of it is not shown.
ZONECAST_IREE_API uint8_t iree_tracing_gpu_context_allocate(
    iree_tracing_gpu_context_type_t type, const char* name, size_t name_length, bool is_calibrated,
    uint64_t cpu_timestamp, uint64_t gpu_timestamp, float timestamp_period);
// Both clocks, read at once. Where they are not, the times of zones compare them.
ZONECAST_IREE_API void iree_tracing_gpu_context_calibrate(uint8_t context_id, int64_t cpu_delta,
                                                          int64_t cpu_timestamp,
                                                          int64_t gpu_timestamp);
// A query is the number of an event on the stream, which is told its time later. It may come again
// once it has one. A time of 0 says that the event does not take place.
ZONECAST_IREE_API void iree_tracing_gpu_zone_begin(uint8_t context_id, uint16_t query_id,
                                                   const iree_tracing_location_t* src_loc);
ZONECAST_IREE_API void iree_tracing_gpu_zone_begin_external(
    uint8_t context_id, uint16_t query_id, const char* file_name, size_t file_name_length,
    uint32_t line, const char* function_name, size_t function_name_length, const char* name,
    size_t name_length);
ZONECAST_IREE_API void iree_tracing_gpu_zone_end(uint8_t context_id, uint16_t query_id);
ZONECAST_IREE_API void iree_tracing_gpu_zone_notify(uint8_t context_id, uint16_t query_id,
                                                    int64_t gpu_timestamp);

#endif  // INSTRUMENTATION_DEVICE

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

#if ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_ALLOCATION_TRACKING)

// Pools are told apart by their text; NULL is the program's own memory. Addresses are numbers, since
// GCC takes a pointer to const for a read of what was just allocated.
ZONECAST_IREE_API void zonecast_iree_alloc(const char* pool, uintptr_t address, size_t size,
                                           uint32_t depth);
ZONECAST_IREE_API void zonecast_iree_free(const char* pool, uintptr_t address, uint32_t depth);

#if ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_ALLOCATION_CALLSTACKS)
#define ZONECAST_IREE_MEMORY_DEPTH (IREE_TRACING_MAX_CALLSTACK_DEPTH)
#else
#define ZONECAST_IREE_MEMORY_DEPTH 0
#endif

#define IREE_TRACE_ALLOC(ptr, size) \
  zonecast_iree_alloc(NULL, (uintptr_t)(ptr), (size), ZONECAST_IREE_MEMORY_DEPTH)
#define IREE_TRACE_FREE(ptr) zonecast_iree_free(NULL, (uintptr_t)(ptr), ZONECAST_IREE_MEMORY_DEPTH)
#define IREE_TRACE_ALLOC_NAMED(name, ptr, size) \
  zonecast_iree_alloc((name), (uintptr_t)(ptr), (size), ZONECAST_IREE_MEMORY_DEPTH)
#define IREE_TRACE_FREE_NAMED(name, ptr) \
  zonecast_iree_free((name), (uintptr_t)(ptr), ZONECAST_IREE_MEMORY_DEPTH)

// Hides where a pointer came from: GCC refuses to compile that a freed one is traced.
static inline void* iree_tracing_obscure_ptr(void* ptr) {
  __asm__ volatile("" : "+r"(ptr));
  return ptr;
}

#endif  // ALLOCATION_TRACKING

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

// IREE's headers spell this macro of Tracy's.
#if !defined(TracyConcat)
#define TracyConcat(a, b) TracyConcatIndirect(a, b)
#define TracyConcatIndirect(a, b) a##b
#endif

#if ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_FAST_LOCKS | IREE_TRACING_FEATURE_SLOW_LOCKS)

ZONECAST_IREE_API void iree_tracing_mutex_announce(const iree_tracing_location_t* src_location,
                                                   uint32_t* out_lock_id);
ZONECAST_IREE_API void iree_tracing_mutex_terminate(uint32_t lock_id);
ZONECAST_IREE_API void iree_tracing_mutex_before_lock(uint32_t lock_id);
ZONECAST_IREE_API void iree_tracing_mutex_after_lock(uint32_t lock_id);
ZONECAST_IREE_API void iree_tracing_mutex_after_try_lock(uint32_t lock_id, bool was_acquired);
ZONECAST_IREE_API void iree_tracing_mutex_after_unlock(uint32_t lock_id);

#endif  // LOCKS

#if defined(ZONECAST_IREE_BY_ITSELF)
#include "zonecast_iree_by_itself.h"
#endif

#endif  // ZONECAST_IREE_H_
