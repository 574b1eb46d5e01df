// What IREE was seen to do to a provider, or may do: each function is one trap. Argument: which.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zonecast_iree.h"

static void missing_ends(void) {
  IREE_TRACE_ZONE_BEGIN_NAMED(outer, "outer");
  for (int i = 0; i < 3; ++i) {
    IREE_TRACE_ZONE_BEGIN_NAMED(forgotten, "forgotten");
    (void)forgotten;
  }
  IREE_TRACE_ZONE_END(outer);
  IREE_TRACE_ZONE_BEGIN_NAMED(after, "after");
  IREE_TRACE_ZONE_END(after);
  IREE_TRACE_ZONE_END(after);  // and twice
  IREE_TRACE_ZONE_END(0);
  IREE_TRACE_ZONE_END(outer);
  IREE_TRACE_ZONE_END(~(iree_zone_id_t)0);
  IREE_TRACE_ZONE_APPEND_TEXT(after, "of a zone that has ended");
  IREE_TRACE_ZONE_APPEND_VALUE_I64(0, 1);
}

static void* end_it(void* zone) {
  IREE_TRACE_ZONE_END(*(iree_zone_id_t*)zone);
  return NULL;
}

static void end_elsewhere(iree_zone_id_t zone) {
  pthread_t thread;
  pthread_create(&thread, NULL, end_it, &zone);
  pthread_join(thread, NULL);
}

static void ends_on_another_thread(void) {
  IREE_TRACE_ZONE_BEGIN_NAMED(first, "first");
  end_elsewhere(first);
  IREE_TRACE_ZONE_BEGIN_NAMED(second, "second");
  IREE_TRACE_ZONE_BEGIN_NAMED(inside, "inside");
  end_elsewhere(second);
  IREE_TRACE_ZONE_BEGIN_NAMED(third, "third");
  IREE_TRACE_ZONE_END(third);
  IREE_TRACE_ZONE_END(inside);
  IREE_TRACE_ZONE_BEGIN_NAMED(last, "last");
  IREE_TRACE_ZONE_END(last);
}

static void* leave_open(void* unused) {
  IREE_TRACE_ZONE_BEGIN_NAMED(left, "left open");
  (void)left;
  return unused;
}

static void threads_that_exit(void) {
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, leave_open, NULL);
    pthread_join(thread, NULL);
  }
}

static iree_zone_id_t across;

static void* second_half(void* fiber) {
  IREE_TRACE_ZONE_BEGIN_NAMED(host, "second host");
  IREE_TRACE_FIBER_ENTER((intptr_t)fiber);
  IREE_TRACE_ZONE_BEGIN_NAMED(step, "second step");
  IREE_TRACE_ZONE_END(step);
  IREE_TRACE_ZONE_END(across);
  IREE_TRACE_FIBER_LEAVE();
  IREE_TRACE_ZONE_END(host);
  return NULL;
}

static void fibers_on_two_threads(void) {
  static const char fiber[] = "fiber-0001";
  IREE_TRACE_ZONE_BEGIN_NAMED(host, "first host");
  IREE_TRACE_FIBER_ENTER((intptr_t)fiber);
  IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(resumed, "resumed later", 13);
  across = resumed;
  IREE_TRACE_ZONE_BEGIN_NAMED(step, "first step");
  IREE_TRACE_ZONE_END(step);
  IREE_TRACE_FIBER_LEAVE();
  IREE_TRACE_FIBER_LEAVE();  // and twice
  IREE_TRACE_ZONE_END(host);
  pthread_t thread;
  pthread_create(&thread, NULL, second_half, (void*)fiber);
  pthread_join(thread, NULL);
}

static void nothing_at_all(void) {
  IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(nameless, NULL, 0);
  IREE_TRACE_ZONE_APPEND_TEXT(nameless, NULL, 0);
  IREE_TRACE_ZONE_END(nameless);
  IREE_TRACE_ZONE_BEGIN_EXTERNAL(nowhere, NULL, 0, 0, NULL, 0, NULL, 0);
  IREE_TRACE_ZONE_END(nowhere);
  IREE_TRACE_SET_APP_INFO(NULL, 0);
  IREE_TRACE_SET_THREAD_NAME(NULL);
  IREE_TRACE_PUBLISH_SOURCE_FILE(NULL, 0, (const char*)NULL, 0);
  IREE_TRACE_MESSAGE_DYNAMIC(INFO, "\xff\xfe", 2);  // no UTF-8
  IREE_TRACE_ALLOC(NULL, 0);
  IREE_TRACE_FREE(NULL);
  iree_tracing_mutex_before_lock(0);
  iree_tracing_mutex_after_lock(0);
  iree_tracing_mutex_after_unlock(77);
  iree_tracing_mutex_terminate(77);
}

static void memory_out_of_order(void) {
  void* block = (void*)0x1000;
  IREE_TRACE_ALLOC(block, 16);
  IREE_TRACE_ALLOC(block, 32);  // another thread has it already
  IREE_TRACE_FREE(block);       // and only now is the first one said to be free
  IREE_TRACE_FREE(block);
  IREE_TRACE_FREE(block);  // once too often
  IREE_TRACE_FREE((void*)0x2000);  // from before tracing
  char one[] = "pool", two[] = "pool";  // one name, twice
  IREE_TRACE_ALLOC_NAMED(one, block, 8);
  IREE_TRACE_FREE_NAMED(two, block);
}

static void deep(int levels) {
  IREE_TRACE_ZONE_BEGIN_NAMED(level, "level");
  if (levels > 1) deep(levels - 1);
  IREE_TRACE_ZONE_END(level);
}

static void exit_with_zones_open(void) {
  IREE_TRACE_APP_ENTER();
  IREE_TRACE_ZONE_BEGIN_NAMED(open, "open at exit");
  IREE_TRACE_ZONE_BEGIN_NAMED(inner, "ended before exit");
  IREE_TRACE_ZONE_END(inner);
  (void)open;
  exit(0);
}

int main(int argc, char** argv) {
  const char* trap = argc > 1 ? argv[1] : "";
  if (!strcmp(trap, "missing_ends")) missing_ends();
  if (!strcmp(trap, "ends_on_another_thread")) ends_on_another_thread();
  if (!strcmp(trap, "threads_that_exit")) threads_that_exit();
  if (!strcmp(trap, "fibers_on_two_threads")) fibers_on_two_threads();
  if (!strcmp(trap, "nothing_at_all")) nothing_at_all();
  if (!strcmp(trap, "memory_out_of_order")) memory_out_of_order();
  if (!strcmp(trap, "deep")) deep(500);
  if (!strcmp(trap, "exit_with_zones_open")) exit_with_zones_open();
  return 0;
}
