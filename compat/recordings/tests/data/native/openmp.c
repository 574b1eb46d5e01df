/* Stands in for libomp and libomptarget: one team of one thread does everything. */
#include <stdarg.h>

typedef void (*microtask)(int *, int *, void *, void *, void *, void *, void *, void *);

static void run(int count, microtask task, va_list arguments) {
    void *all[6] = {0};
    for (int i = 0; i < count && i < 6; i++) all[i] = va_arg(arguments, void *);
    int zero = 0;
    task(&zero, &zero, all[0], all[1], all[2], all[3], all[4], all[5]);
}

int __kmpc_global_thread_num(void *place) { (void)place; return 0; }
void __kmpc_push_num_teams(void *place, int thread, int teams, int threads) {
    (void)place, (void)thread, (void)teams, (void)threads;
}
void __kmpc_fork_teams(void *place, int count, microtask task, ...) {
    (void)place;
    va_list arguments;
    va_start(arguments, task);
    run(count, task, arguments);
    va_end(arguments);
}
void __kmpc_fork_call(void *place, int count, microtask task, ...) {
    (void)place;
    va_list arguments;
    va_start(arguments, task);
    run(count, task, arguments);
    va_end(arguments);
}
/* The bounds stay, and the next piece lies behind them: all of the loop is this thread's. */
void __kmpc_for_static_init_4(void *place, int thread, int schedule, int *last, int *lower, int *upper, int *stride) {
    (void)place, (void)thread, (void)schedule;
    *last = 1;
    *stride = *upper - *lower + 1;
}
void __kmpc_for_static_fini(void *place, int thread) { (void)place, (void)thread; }
