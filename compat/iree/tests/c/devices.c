// What drivers do to the zones of devices. Argument: which. The device counts nanoseconds from 1000 s
// on, and runs as fast as the host.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "zonecast_iree.h"

enum { QUERIES = 65536 };
static const int64_t kStart = 1000000000000;
static int64_t base;

static uint8_t context(const char* name) {
  base = iree_tracing_time();
  return iree_tracing_gpu_context_allocate(IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN, name, strlen(name), false,
                                           (uint64_t)base, (uint64_t)kStart, 1.0f);
}

// The device's clock, now.
static int64_t now(void) { return iree_tracing_time() - base + kStart; }

static void wait_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void begin(uint8_t id, uint32_t query, const char* name) {
  // Drivers cut the number off.
  iree_tracing_gpu_zone_begin_external(id, (uint16_t)query, "kernels.mlir", 12, 7, name, strlen(name), NULL, 0);
}

static void end(uint8_t id, uint32_t query) { iree_tracing_gpu_zone_end(id, (uint16_t)query); }

// One zone in another, and then their four times.
static void pair(uint8_t id, uint32_t first, const char* outer, const char* inner) {
  begin(id, first, outer);
  begin(id, first + 1, inner);
  end(id, first + 2);
  end(id, first + 3);
  wait_ms(1);
  for (uint32_t q = 0; q < 4; ++q) iree_tracing_gpu_zone_notify(id, (uint16_t)(first + q), now());
}

static void in_order(void) {
  uint8_t id = context("cuda");
  static const iree_tracing_location_t place = {"copy", "copies", "driver.c", 3, 0xFF0000};
  iree_tracing_gpu_zone_begin(id, 100, &place);
  iree_tracing_gpu_zone_end(id, 101);
  pair(id, 0, "command buffer", "kernel");
  iree_tracing_gpu_zone_notify(id, 100, now());
  wait_ms(2);
  iree_tracing_gpu_zone_notify(id, 101, now());
}

// A command buffer with more events than there are numbers, one that is never launched, and another.
static void many_queries(void) {
  uint8_t id = context("hip");
  enum { ZONES = QUERIES };
  begin(id, 0, "command buffer");
  for (uint32_t i = 0; i < ZONES; ++i) {
    begin(id, 1 + 2 * i, i & 1 ? "odd" : "even");
    end(id, 2 + 2 * i);
  }
  end(id, 1 + 2 * ZONES);
  wait_ms(1);
  for (uint32_t q = 0; q < 2 + 2 * ZONES; ++q) iree_tracing_gpu_zone_notify(id, (uint16_t)q, now());
}

static void never_launched(void) {
  uint8_t id = context("cuda");
  pair(id, 0, "first", "kernel");
  begin(id, 4, "never");
  begin(id, 5, "never");
  end(id, 6);
  end(id, 7);
  for (uint16_t q = 4; q < 8; ++q) iree_tracing_gpu_zone_notify(id, q, 0);
  // One whose recording failed half way.
  begin(id, 8, "never");
  begin(id, 9, "never");
  for (uint16_t q = 8; q < 10; ++q) iree_tracing_gpu_zone_notify(id, q, 0);
  // One that was freed without a word.
  begin(id, 20, "never");
  end(id, 21);
  pair(id, 4, "second", "kernel");
  pair(id, 20, "third", "kernel");
}

static void graphs(void) {
  uint8_t id = context("cuda");
  begin(id, 0, "graph");
  begin(id, 1, "node");
  end(id, 2);
  end(id, 3);
  for (int launch = 0; launch < 5; ++launch) {
    wait_ms(1);
    for (uint16_t q = 0; q < 4; ++q) iree_tracing_gpu_zone_notify(id, q, now());
  }
  pair(id, 0, "command buffer", "kernel");
}

static void many_contexts(void) {
  for (int i = 0; i < 300; ++i) {
    uint8_t id = context("cuda");
    pair(id, 0, "zone", "kernel");
  }
}

static void nonsense(void) {
  uint8_t id = context("cuda");
  iree_tracing_gpu_zone_notify(id, 5, now());  // never recorded
  iree_tracing_gpu_zone_end(id, 6);            // never begun
  iree_tracing_gpu_zone_notify(id, 6, now());
  static const int64_t wrong[] = {INT64_MIN, -1, 1, INT64_MAX};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); ++i) {
    begin(id, 0, "outer");
    begin(id, 1, "wrong");
    end(id, 2);
    end(id, 3);
    iree_tracing_gpu_zone_notify(id, 0, now());
    iree_tracing_gpu_zone_notify(id, 1, wrong[i]);
    iree_tracing_gpu_zone_notify(id, 2, now());
    iree_tracing_gpu_zone_notify(id, 3, now());
  }
  iree_tracing_gpu_context_calibrate(id, -1, iree_tracing_time(), now());
  begin(255, 0, "of no context");
  end(77, 1);
  iree_tracing_gpu_zone_notify(255, 0, now());
  iree_tracing_gpu_context_allocate(IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN, NULL, 0, true, ~0ull, ~0ull, -1.0f);
  uint8_t odd = iree_tracing_gpu_context_allocate(IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN, "odd", 3, true,
                                                  (uint64_t)iree_tracing_time(), 0, 0.0f / 0.0f);
  begin(odd, 0, "late");
  end(odd, 1);
}

static uint8_t shared;
static pthread_mutex_t stream = PTHREAD_MUTEX_INITIALIZER;

// Threads record and collect as they like; the stream runs one list after the other.
static void* record(void* thread) {
  uint32_t first = (uint32_t)(uintptr_t)thread * 1000;
  for (uint32_t i = 0; i < 100; ++i, first += 4) {
    begin(shared, first, "command buffer");
    begin(shared, first + 1, "kernel");
    end(shared, first + 2);
    end(shared, first + 3);
    int64_t times[4];
    pthread_mutex_lock(&stream);
    for (int q = 0; q < 4; ++q) times[q] = now();
    pthread_mutex_unlock(&stream);
    for (uint32_t q = 0; q < 4; ++q) iree_tracing_gpu_zone_notify(shared, (uint16_t)(first + q), times[q]);
  }
  return NULL;
}

static void several_threads(void) {
  shared = context("hip");
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, record, (void*)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "in_order")) in_order();
  if (!strcmp(what, "many_queries")) many_queries();
  if (!strcmp(what, "never_launched")) never_launched();
  if (!strcmp(what, "graphs")) graphs();
  if (!strcmp(what, "many_contexts")) many_contexts();
  if (!strcmp(what, "nonsense")) nonsense();
  if (!strcmp(what, "several_threads")) several_threads();
  return 0;
}
