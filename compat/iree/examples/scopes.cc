// A C++ program that is traced: zones end with their scopes, on every thread.
//
//   c++ scopes.cc $(pkg-config --cflags --libs zonecast_iree) -o scopes
//   ZONECAST_PROVIDER=console ./scopes
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "zonecast_iree.h"

static long work(int worker) {
  IREE_TRACE_SET_THREAD_NAME(("worker " + std::to_string(worker)).c_str());
  IREE_TRACE_SCOPE();
  IREE_TRACE_ZONE_APPEND_VALUE_I64(IREE_TRACE_SCOPE_ID, worker);
  long sum = 0;
  for (int step = 0; step < 3; ++step) {
    IREE_TRACE_SCOPE_NAMED("step");
    for (long i = 0; i < 1000; ++i) sum += i ^ worker;
  }
  return sum;
}

int main() {
  IREE_TRACE_APP_ENTER();
  {
    IREE_TRACE_SCOPE_NAMED("all workers");
    std::vector<std::thread> threads;
    for (int worker = 0; worker < 3; ++worker) threads.emplace_back(work, worker);
    for (auto& thread : threads) thread.join();
  }
  std::puts("done");
  IREE_TRACE_APP_EXIT(0);
}
