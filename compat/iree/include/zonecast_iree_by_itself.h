// What iree/base/tracing.h gives inside IREE: enumerations, and macros for features that are off.
// Included by zonecast_iree.h where there is no IREE.
#ifndef ZONECAST_IREE_BY_ITSELF_H_
#define ZONECAST_IREE_BY_ITSELF_H_

typedef enum iree_tracing_plot_type_e {
  IREE_TRACING_PLOT_TYPE_NUMBER = 0,
  IREE_TRACING_PLOT_TYPE_MEMORY = 1,
  IREE_TRACING_PLOT_TYPE_PERCENTAGE = 2
} iree_tracing_plot_type_t;

enum {
  IREE_TRACING_MESSAGE_LEVEL_ERROR = 0xFF0000,
  IREE_TRACING_MESSAGE_LEVEL_WARNING = 0xFFFF00,
  IREE_TRACING_MESSAGE_LEVEL_INFO = 0xFFFFFF,
  IREE_TRACING_MESSAGE_LEVEL_VERBOSE = 0xC0C0C0,
  IREE_TRACING_MESSAGE_LEVEL_DEBUG = 0x00FF00
};

#if !ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_INSTRUMENTATION)
#define ZONECAST_IREE_NO_ZONE_(zone_id) \
  iree_zone_id_t zone_id = 0;           \
  (void)zone_id
#define IREE_TRACE(...)
#define IREE_TRACE_APP_ENTER()
#define IREE_TRACE_APP_EXIT(exit_code)
#define IREE_TRACE_SET_APP_INFO(value, value_length)
#define IREE_TRACE_SET_THREAD_NAME(name)
#define IREE_TRACE_PUBLISH_SOURCE_FILE(filename, filename_length, content, content_length)
#define IREE_TRACE_FIBER_ENTER(fiber)
#define IREE_TRACE_FIBER_LEAVE()
#define IREE_TRACE_ZONE_BEGIN(zone_id) ZONECAST_IREE_NO_ZONE_(zone_id)
#define IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, name_literal) ZONECAST_IREE_NO_ZONE_(zone_id)
#define IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(zone_id, name, name_length) \
  ZONECAST_IREE_NO_ZONE_(zone_id)
#define IREE_TRACE_ZONE_BEGIN_EXTERNAL(zone_id, file_name, file_name_length, line,             \
                                       function_name, function_name_length, name, name_length) \
  ZONECAST_IREE_NO_ZONE_(zone_id)
#define IREE_TRACE_ZONE_END(zone_id) ((void)(zone_id))
#define IREE_RETURN_AND_END_ZONE(zone_id, ...) return (__VA_ARGS__)
#define IREE_TRACE_ZONE_SET_COLOR(zone_id, color_xrgb)
#define IREE_TRACE_ZONE_APPEND_VALUE_I64(zone_id, value)
#define IREE_TRACE_ZONE_APPEND_TEXT(...)
#define IREE_TRACE_SET_PLOT_TYPE(name, plot_type, step, fill, color)
#define IREE_TRACE_PLOT_VALUE_I64(name, value)
#define IREE_TRACE_PLOT_VALUE_F32(name, value)
#define IREE_TRACE_PLOT_VALUE_F64(name, value)
#define IREE_TRACE_FRAME_MARK()
#define IREE_TRACE_FRAME_MARK_NAMED(name_literal)
#define IREE_TRACE_FRAME_MARK_BEGIN_NAMED(name_literal)
#define IREE_TRACE_FRAME_MARK_END_NAMED(name_literal)
#define IREE_TRACE_MESSAGE(level, value_literal)
#define IREE_TRACE_MESSAGE_COLORED(color, value_literal)
#define IREE_TRACE_MESSAGE_DYNAMIC(level, value, value_length)
#define IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, value, value_length)
#if defined(__cplusplus)
#define IREE_TRACE_SCOPE()
#define IREE_TRACE_SCOPE_NAMED(name_literal)
#define IREE_TRACE_SCOPE_ID ((iree_zone_id_t)0)
#endif
#endif

#if !ZONECAST_IREE_HAS_(IREE_TRACING_FEATURE_ALLOCATION_TRACKING)
#define IREE_TRACE_ALLOC(ptr, size)
#define IREE_TRACE_FREE(ptr)
#define IREE_TRACE_ALLOC_NAMED(name, ptr, size)
#define IREE_TRACE_FREE_NAMED(name, ptr)
#endif

#endif  // ZONECAST_IREE_BY_ITSELF_H_
