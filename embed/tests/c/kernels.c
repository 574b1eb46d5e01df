// What a compiler that emits C would write: two kernels that share a file, and their table.
//
// With -DAS_NOTE the table becomes an ELF note; with -DEXPORTED it is a symbol that a host can look up.

#include "zonecast_embed.h"

typedef struct {
  zonecast_header header;
  zonecast_export exports[2];
  zonecast_stage stages[3];
  zonecast_source sources[2];
  char name[sizeof("kernels")];
  char add[sizeof("add")];
  char mul[sizeof("mul")];
  char stage_0[sizeof("0.source")];
  char stage_1[sizeof("1.low")];
  char user_path[sizeof("user.py")];
  char path_0[sizeof("kernels.0.mlir")];
  char path_1[sizeof("kernels.1.mlir")];
  char text_0[sizeof("func @add\nfunc @mul\n")];
  char text_1[sizeof("low @add\n")];
} ZONECAST_TABLE kernels_table;

#define STRING(MEMBER) ZONECAST_STRING(kernels_table, MEMBER)

#define TABLE                                                                        \
  {                                                                                  \
      .header = {.magic = ZONECAST_MAGIC,                                            \
                 .version = ZONECAST_VERSION,                                        \
                 .header_size = sizeof(zonecast_header),                             \
                 .table_size = sizeof(kernels_table),                                \
                 .name = STRING(name),                                               \
                 .target = ZONECAST_NO_STRING,                                       \
                 .exports = ZONECAST_ARRAY(kernels_table, exports),                  \
                 .stages = ZONECAST_ARRAY(kernels_table, stages),                    \
                 .sources = ZONECAST_ARRAY(kernels_table, sources)},                 \
      .exports = {{STRING(add), STRING(user_path), 10, 0, 2, 0},                     \
                  {STRING(mul), STRING(user_path), 20, 2, 1, 0}},                    \
      .stages = {{STRING(stage_0), STRING(path_0), 1, 0},                            \
                 {STRING(stage_1), STRING(path_1), 1, 0},                            \
                 {STRING(stage_0), STRING(path_0), 2, 0}},                           \
      .sources = {ZONECAST_SOURCE(kernels_table, path_0, text_0),                    \
                  ZONECAST_SOURCE(kernels_table, path_1, text_1)},                   \
      .name = "kernels", .add = "add", .mul = "mul", .stage_0 = "0.source",          \
      .stage_1 = "1.low", .user_path = "user.py", .path_0 = "kernels.0.mlir",        \
      .path_1 = "kernels.1.mlir", .text_0 = "func @add\nfunc @mul\n",                \
      .text_1 = "low @add\n",                                                        \
  }

#if defined(AS_NOTE)
typedef struct {
  zonecast_note note;
  kernels_table table;
} kernels_note;

ZONECAST_NOTE_SECTION static const kernels_note note = {ZONECAST_NOTE(kernels_table), TABLE};
#elif defined(EXPORTED)
const kernels_table zonecast_table = TABLE;
#else
ZONECAST_SECTION static const kernels_table table = TABLE;
#endif

float add(float a, float b) { return a + b; }
float mul(float a, float b) { return a * b; }
