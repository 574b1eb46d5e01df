// A program with kernels whose compiler put a table beside them (zonecast-embed's tests/c/kernels.c). It traces them
// by name, and one by place, and says nothing of the table.
#include <string.h>

#include "zonecast_iree.h"

float add(float a, float b);
float mul(float a, float b);

int main(void) {
  const char kAdd[] = "add", kMul[] = "mul", kFile[] = "kernels.1.mlir", kPlace[] = "by place";
  IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(first, kAdd, strlen(kAdd));
  float sum = add(1.0f, 2.0f);
  IREE_TRACE_ZONE_END(first);
  IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(second, kMul, strlen(kMul));
  float product = mul(sum, 2.0f);
  IREE_TRACE_ZONE_END(second);
  IREE_TRACE_ZONE_BEGIN_EXTERNAL(third, kFile, strlen(kFile), 1, kPlace, strlen(kPlace), NULL, 0);
  IREE_TRACE_ZONE_END(third);
  return product == 6.0f ? 0 : 1;
}
