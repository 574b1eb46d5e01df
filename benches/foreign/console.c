// A console as one writes it in an afternoon: a line when a zone begins and one when it ends, with
// what zonecast's lines have on them: the time, the thread, the depth, the name, the place, and how
// long it took.

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static FILE *out;
static double program_begun;
static __thread int depth;
static __thread double begun[64];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void start(void) {
  if (out) return;
  const char *path = getenv("MEASURED_FILE");
  out = path ? fopen(path, "w") : stderr;
  if (!out) abort();
  program_begun = now();
}

static __attribute__((noinline)) void begin(const char *name, const char *file, int line) {
  double time = now();
  fprintf(out, "%12.6f [%d] %*s> %s (%s:%d)\n", time - program_begun, gettid(), depth * 2, "", name, file, line);
  begun[depth++] = time;
}

static __attribute__((noinline)) void end(const char *name) {
  double time = now();
  double took = time - begun[--depth];
  fprintf(out, "%12.6f [%d] %*s< %s %.2f us\n", time - program_begun, gettid(), depth * 2, "", name, took * 1e6);
}

#define BODY __asm__ volatile("" : : "r"(&i) : "memory")

// stdio's buffer is written when it is full.
void loop_console_c(uint64_t n) {
  start();
  for (uint64_t i = 0; i < n; i++) {
    begin("zone", __FILE__, __LINE__);
    BODY;
    end("zone");
  }
}

void loop_console_c_nested(uint64_t n) {
  start();
  for (uint64_t i = 0; i < n; i++) {
    begin("outer", __FILE__, __LINE__);
    begin("zone", __FILE__, __LINE__);
    BODY;
    end("zone");
    end("outer");
  }
}

// Every line is written at once, so that none is lost in a crash.
void loop_console_c_flushed(uint64_t n) {
  start();
  for (uint64_t i = 0; i < n; i++) {
    begin("zone", __FILE__, __LINE__);
    fflush(out);
    BODY;
    end("zone");
    fflush(out);
  }
}
