// Tracy's queue of events, and the names for it that `layout.def` uses.
#pragma once
#include "client/TracyProfiler.hpp"

#include <atomic>
#include <stddef.h>

namespace zonecast
{
typedef tracy::moodycamel::ConcurrentQueue<tracy::QueueItem> Events;

// A thread's own part of it. Its protected members are reached by inheritance.
struct Queue : Events::ExplicitProducer
{
    static constexpr size_t Tail() { return offsetof( Queue, tailIndex ); }
    static constexpr size_t Block() { return offsetof( Queue, tailBlock ); }
    bool WasTakenFrom() const { return headIndex.load( std::memory_order_relaxed ) != 0; }
    bool IsTaken( size_t index ) const { return ptrdiff_t( headIndex.load( std::memory_order_acquire ) - index ) > 0; }
};

static_assert( sizeof( std::atomic<Events::index_t> ) == sizeof( size_t ), "the tail index is a plain word" );
static_assert( ( Events::BLOCK_SIZE & ( Events::BLOCK_SIZE - 1 ) ) == 0, "a mask finds the place in a block" );

// Whether Tracy's clock is the time stamp counter, always.
#if defined TRACY_HW_TIMER && defined TRACY_HAS_RDTSC && !defined TRACY_TIMER_FALLBACK && \
    !defined TRACY_TIMER_QPC && ( defined __x86_64__ || defined _M_X64 )
constexpr size_t IsTsc = 1;
#else
constexpr size_t IsTsc = 0;
#endif
}
