// A zone from C, again and again. Argument: how often.
#include <stdlib.h>

#include "zonecast_iree.h"

__attribute__((noinline)) void loop_pair(long rounds) {
  for (long round = 0; round < rounds; ++round) {
    IREE_TRACE_ZONE_BEGIN_NAMED(zone, "pair");
    IREE_TRACE_ZONE_END(zone);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  IREE_TRACE_ZONE_BEGIN_NAMED(outer, "outer");
  loop_pair(atol(argv[1]));
  IREE_TRACE_ZONE_END(outer);
  return 0;
}
