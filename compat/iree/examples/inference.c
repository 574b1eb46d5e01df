// A C program that is traced: zones with texts and values, a plot, a message, memory.
//
//   cc inference.c $(pkg-config --cflags --libs zonecast_iree) -o inference
//   ZONECAST_PROVIDER=console ./inference
#include <stdio.h>
#include <stdlib.h>

#include "zonecast_iree.h"

static float layer(int index, const float* input, float* output, int count) {
  IREE_TRACE_ZONE_BEGIN_NAMED(zone, "layer");
  IREE_TRACE_ZONE_APPEND_VALUE_I64(zone, index);
  float sum = 0;
  for (int i = 0; i < count; ++i) {
    output[i] = input[i] * 0.5f + (float)index;
    sum += output[i];
  }
  IREE_TRACE_ZONE_END(zone);
  return sum;
}

int main(void) {
  IREE_TRACE_APP_ENTER();
  IREE_TRACE_SET_THREAD_NAME("main");
  IREE_TRACE_ZONE_BEGIN(zone);
  IREE_TRACE_ZONE_APPEND_TEXT(zone, "four layers of 1024");

  enum { COUNT = 1024 };
  float* values = (float*)calloc(COUNT, sizeof(float));
  IREE_TRACE_ALLOC(values, COUNT * sizeof(float));
  float sum = 0;
  for (int index = 0; index < 4; ++index) {
    sum = layer(index, values, values, COUNT);
    IREE_TRACE_PLOT_VALUE_F32("sum", sum);
  }
  IREE_TRACE_MESSAGE(INFO, "done");
  IREE_TRACE_FREE(values);
  free(values);
  printf("sum %.1f\n", (double)sum);

  IREE_TRACE_ZONE_END(zone);
  IREE_TRACE_APP_EXIT(0);
  return 0;
}
