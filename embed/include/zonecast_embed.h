// The zonecast table in C: which kernels an executable exports, where each is written, and what the source
// files say. FORMAT.md, beside this header's folder, specifies it; this header needs nothing but a C11 or C++11
// compiler, and no library.
//
// A table is one block of bytes without pointers. A compiler that writes object files writes those bytes as it writes
// any data. A compiler that emits C or C++ defines a structure like the one in tests/c/kernels.c: a zonecast_header, the
// arrays, and an array of char for each string, with the macros below for the offsets between them.

#ifndef ZONECAST_EMBED_H_
#define ZONECAST_EMBED_H_

#include <stddef.h>
#include <stdint.h>

#define ZONECAST_MAGIC {'Z', 'O', 'N', 'E', 'C', 'A', 'S', 'T'}
#define ZONECAST_VERSION 1u

// All numbers are little-endian. Offsets count bytes from the beginning of the table.

// Length 0: absent. No terminator is needed, and none is counted.
typedef struct {
  uint32_t offset;
  uint32_t length;
} zonecast_string;

// Count 0: absent. The offset is a multiple of 4.
typedef struct {
  uint32_t offset;
  uint32_t count;
} zonecast_array;

typedef struct {
  char magic[8];         // ZONECAST_MAGIC
  uint32_t version;      // ZONECAST_VERSION
  uint32_t header_size;  // sizeof(zonecast_header)
  uint32_t table_size;   // all of it; a multiple of 8
  uint32_t flags;        // 0
  zonecast_string name;  // what the executable calls itself
  zonecast_string target;  // what it is compiled for, e.g. "sm_90"
  zonecast_array exports;  // of zonecast_export, by ordinal
  zonecast_array stages;   // of zonecast_stage, those of each export together
  zonecast_array sources;  // of zonecast_source, ascending by path
} zonecast_header;

typedef struct {
  zonecast_string name;  // as the runtime launches it; not empty
  zonecast_string file;  // where it is written
  uint32_t line;         // from 1; 0: unknown
  uint32_t first_stage;  // index into the stages
  uint32_t stage_count;  // at most 1024
  uint32_t reserved;     // 0
} zonecast_export;

typedef struct {
  zonecast_string name;  // e.g. "0.source"; those of an export ascend
  zonecast_string file;  // usually the path of a source
  uint32_t line;
  uint32_t reserved;  // 0
} zonecast_stage;

#define ZONECAST_SOURCE_ZSTD 1u  // the text is stored as one zstd frame

typedef struct {
  zonecast_string path;  // as locations name it; not empty; each once
  zonecast_string text;  // as it is stored
  uint32_t length;       // of the text; text.length unless compressed
  uint32_t flags;        // 0 or ZONECAST_SOURCE_ZSTD
} zonecast_source;

#ifdef __cplusplus
#define ZONECAST_ASSERT_(condition, message) static_assert(condition, message)
#else
#define ZONECAST_ASSERT_(condition, message) _Static_assert(condition, message)
#endif
ZONECAST_ASSERT_(sizeof(zonecast_header) == 64, "zonecast_header");
ZONECAST_ASSERT_(sizeof(zonecast_export) == 32, "zonecast_export");
ZONECAST_ASSERT_(sizeof(zonecast_stage) == 24, "zonecast_stage");
ZONECAST_ASSERT_(sizeof(zonecast_source) == 24, "zonecast_source");

// Stands between the closing brace and the name of a structure that is a table (GCC and Clang), and makes its size a
// multiple of 8.
#define ZONECAST_TABLE __attribute__((aligned(8)))

// For tables that are structures. TABLE is the structure's type, MEMBER a member of it.

#define ZONECAST_SIZE_(TABLE, MEMBER) ((uint32_t)sizeof(((TABLE*)0)->MEMBER))

// A char array that was initialised with a string literal; its NUL is left out.
#define ZONECAST_STRING(TABLE, MEMBER) \
  { (uint32_t)offsetof(TABLE, MEMBER), ZONECAST_SIZE_(TABLE, MEMBER) - 1 }

#define ZONECAST_NO_STRING \
  { 0, 0 }

// An array of records.
#define ZONECAST_ARRAY(TABLE, MEMBER) \
  { (uint32_t)offsetof(TABLE, MEMBER), ZONECAST_SIZE_(TABLE, MEMBER) / ZONECAST_SIZE_(TABLE, MEMBER[0]) }

// A source that is stored as it is.
#define ZONECAST_SOURCE(TABLE, PATH, TEXT) \
  { ZONECAST_STRING(TABLE, PATH), ZONECAST_STRING(TABLE, TEXT), ZONECAST_SIZE_(TABLE, TEXT) - 1, 0 }

// Where a table goes in an ELF file (GCC and Clang). The object file must be linked: a static library's members are
// only if something refers to them. Linkers that drop unreferenced sections keep this one if the compiler knows
// how to ask for it; otherwise make the table a note, as below, which they always keep.
#if defined(__has_attribute)
#if __has_attribute(retain)
#define ZONECAST_RETAIN_ , retain
#endif
#endif
#ifndef ZONECAST_RETAIN_
#define ZONECAST_RETAIN_
#endif
#define ZONECAST_SECTION __attribute__((section(".zonecast"), aligned(8), used ZONECAST_RETAIN_))

// A table as an ELF note: a structure of this, first, and the table.
typedef struct {
  uint32_t name_size;         // 9
  uint32_t description_size;  // of the table
  uint32_t type;              // 1
  char name[12];              // "zonecast"
} zonecast_note;
ZONECAST_ASSERT_(sizeof(zonecast_note) == 24, "zonecast_note");

#define ZONECAST_NOTE(TABLE) \
  { 9, (uint32_t)sizeof(TABLE), 1, "zonecast" }
#define ZONECAST_NOTE_SECTION __attribute__((section(".note.zonecast"), aligned(8), used))

#endif  // ZONECAST_EMBED_H_
