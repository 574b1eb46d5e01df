// Gives Tracy's profiler object and this thread's queue, by the names that spell Tracy's whole
// configuration.
//
// One tiny object for each configuration. Rust refers to one of them; were it the wrong one, the
// program would not link, and the linker would name Tracy's accessor, instead of running with
// fields in other places.
#define TracyConcatIndirect( x, y ) x##y
#define TracyConcat( x, y ) TracyConcatIndirect( x, y )
#include "client/TracyMangle.hpp"
#include "client/tracy_concurrentqueue.h"
#include "common/TracyQueue.hpp"

namespace tracy
{
class Profiler;
Profiler& MANGLED_NAME_BASED_ON_CONFIG( GetProfiler )();
moodycamel::ConcurrentQueue<QueueItem>::ExplicitProducer* MANGLED_NAME_BASED_ON_CONFIG( GetToken )();
}

extern "C" {

tracy::Profiler* VARIANT( profiler )() { return &tracy::MANGLED_NAME_BASED_ON_CONFIG( GetProfiler )(); }

void* VARIANT( queue )() { return tracy::MANGLED_NAME_BASED_ON_CONFIG( GetToken )(); }
}
