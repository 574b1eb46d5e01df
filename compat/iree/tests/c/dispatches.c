// Dispatches as IREE's two ways of running them show them. Arguments: the module, and whether to
// register it here ("call") or leave that to the environment.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zonecast_iree.h"

static const char kFirst[] = "f0_dispatch_0_elementwise_20_f32";
static const char kWanted[] = "f11_dispatch_0_elementwise_240_f32";

// local-sync: the right name, at the place of the first function.
static void external(const char* function) {
  IREE_TRACE_ZONE_BEGIN_EXTERNAL(zone, "module_f0_dispatch_0.mlir", 25, 3, function, strlen(function), NULL, 0);
  IREE_TRACE_ZONE_END(zone);
}

// local-task: the name alone.
static void dynamic(const char* function) {
  IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(zone, function, strlen(function));
  IREE_TRACE_ZONE_END(zone);
}

int main(int argc, char** argv) {
  if (argc > 2 && !strcmp(argv[2], "call")) {
    if (!zonecast_iree_register_module(argv[1])) return 1;
    size_t length = 0;
    const uint8_t* bytes = zonecast_iree_module_bytes(argv[1], &length);
    if (!bytes || length == 0) return 2;
    if (zonecast_iree_register_module("/nowhere.vmfb")) return 3;
  }
  external(kWanted);
  dynamic(kWanted);
  external(kFirst);
  dynamic("a VM function");
  // A text that no module has, in memory that goes.
  char* text = strdup("func.func @own() {}\n");
  IREE_TRACE_PUBLISH_SOURCE_FILE("own.mlir", 8, text, strlen(text));
  memset(text, '?', strlen(text));
  free(text);
  IREE_TRACE_ZONE_BEGIN_EXTERNAL(own, "own.mlir", 8, 1, "own", 3, NULL, 0);
  IREE_TRACE_ZONE_END(own);
  return 0;
}
