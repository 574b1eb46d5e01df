// Trees of zones at given times, with launch times and rows of their own, for which Tracy's C
// interface has no calls.
//
// Compiled with and without on-demand, like `profiler.cpp`; the accessor of its own is never called.
#include "client/TracyMangle.hpp"
#undef MANGLED_NAME_BASED_ON_CONFIG
#define MANGLED_NAME_BASED_ON_CONFIG( base ) VARIANT( base##_of_gpu )
#include "client/TracyProfiler.hpp"
#include "common/TracyAlloc.hpp"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace tracy
{
TRACY_API int64_t GetInitTime();
}

namespace
{
// What Tracy keeps to itself: how many nanoseconds a tick is (which it tells the profiler), and the queue
// that several items at once can only be put into under its lock. An explicit instantiation may
// name private members.
template<typename Tag, typename Tag::Member M>
struct Private
{
    friend typename Tag::Member Reach( Tag ) { return M; }
};

struct TimerMul
{
    typedef double tracy::Profiler::*Member;
    friend Member Reach( TimerMul );
};
template struct Private<TimerMul, &tracy::Profiler::m_timerMul>;

struct Queue
{
    typedef tracy::FastVector<tracy::QueueItem> tracy::Profiler::*Member;
    friend Member Reach( Queue );
};
template struct Private<Queue, &tracy::Profiler::m_serialQueue>;

struct Lock
{
    typedef tracy::TracyMutex tracy::Profiler::*Member;
    friend Member Reach( Lock );
};
template struct Private<Lock, &tracy::Profiler::m_serialLock>;

// The profiler looks for a wrapped counter where a time goes back by more.
const int64_t BackwardLimit = int64_t( 1 ) << 31;
}

extern "C" {

// One zone, before those within it. Its own times are nanoseconds of the context, launches are ticks.
struct LaneZone
{
    uint64_t location;
    int64_t start;
    int64_t end;
    int64_t launched;
    int64_t launched_end;
    uint32_t depth;
    uint32_t is_allocated;
};

// A context, and the row in it that zones belong to.
struct LaneContext
{
    // A tick, and what its time is in nanoseconds of the context.
    int64_t ticks;
    int64_t origin;
    int64_t last;
    uint32_t row;
    uint16_t query;
    uint8_t id;
    uint8_t type;
};
}

namespace
{
// Puts items into the queue that all items of GPUs go through, while it holds the queue's lock.
struct Items
{
    tracy::Profiler* profiler;
    tracy::FastVector<tracy::QueueItem>& queue;

    explicit Items( tracy::Profiler* p ) : profiler( p ), queue( p->*Reach( Queue() ) ) { ( p->*Reach( Lock() ) ).lock(); }
    ~Items() { ( profiler->*Reach( Lock() ) ).unlock(); }

    void Put( const tracy::QueueItem& item )
    {
        memcpy( queue.prepare_next(), &item, sizeof( item ) );
        queue.commit_next();
    }

    void PutForLater( const tracy::QueueItem& item )
    {
#ifdef TRACY_ON_DEMAND
        profiler->DeferItem( item );
#endif
        Put( item );
    }

    void Begin( LaneContext& lane, const LaneZone& zone )
    {
        tracy::QueueItem item = {};
        item.hdr.type = zone.is_allocated ? tracy::QueueType::GpuZoneBeginAllocSrcLocSerial : tracy::QueueType::GpuZoneBeginSerial;
        tracy::MemWrite( &item.gpuZoneBegin.cpuTime, zone.launched );
        tracy::MemWrite( &item.gpuZoneBegin.thread, lane.row );
        tracy::MemWrite( &item.gpuZoneBegin.queryId, lane.query );
        tracy::MemWrite( &item.gpuZoneBegin.context, lane.id );
        tracy::MemWrite( &item.gpuZoneBegin.srcloc, zone.location );
        Put( item );
        Time( lane, zone.start );
    }

    void End( LaneContext& lane, const LaneZone& zone )
    {
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::GpuZoneEndSerial;
        tracy::MemWrite( &item.gpuZoneEnd.cpuTime, zone.launched_end );
        tracy::MemWrite( &item.gpuZoneEnd.thread, lane.row );
        tracy::MemWrite( &item.gpuZoneEnd.queryId, lane.query );
        tracy::MemWrite( &item.gpuZoneEnd.context, lane.id );
        Put( item );
        Time( lane, zone.end );
    }

    // The time of the query that was just put: so no two queries are ever open, and an id is free again at once.
    void Time( LaneContext& lane, int64_t time )
    {
        if( time < lane.last - BackwardLimit / 2 ) Synchronize( lane );
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::GpuTime;
        tracy::MemWrite( &item.gpuTime.gpuTime, time );
        tracy::MemWrite( &item.gpuTime.queryId, lane.query++ );
        tracy::MemWrite( &item.gpuTime.context, lane.id );
        Put( item );
        lane.last = time;
    }

    // Another row of the context was ahead. The same pair as ever: times mean the same as before.
    void Synchronize( const LaneContext& lane )
    {
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::GpuTimeSync;
        tracy::MemWrite( &item.gpuTimeSync.gpuTime, lane.origin );
        tracy::MemWrite( &item.gpuTimeSync.cpuTime, lane.ticks );
        tracy::MemWrite( &item.gpuTimeSync.context, lane.id );
        Put( item );
    }
};
}

extern "C" {

double VARIANT( timer_mul )( tracy::Profiler* profiler ) { return profiler->*Reach( TimerMul() ); }

int64_t VARIANT( first_tick )() { return tracy::GetInitTime(); }

// The next id that no context has, or -1.
int32_t VARIANT( next_context )() { return tracy::NextGpuContextId(); }

void VARIANT( new_context )( tracy::Profiler* profiler, const LaneContext* lane, const char* name, uint16_t size )
{
    auto text = static_cast<char*>( tracy::tracy_malloc( size ) );
    memcpy( text, name, size );

    Items items( profiler );
    tracy::QueueItem item = {};
    item.hdr.type = tracy::QueueType::GpuNewContext;
    tracy::MemWrite( &item.gpuNewContext.cpuTime, lane->ticks );
    tracy::MemWrite( &item.gpuNewContext.gpuTime, lane->origin );
    tracy::MemWrite( &item.gpuNewContext.thread, uint32_t( 0 ) );
    tracy::MemWrite( &item.gpuNewContext.period, 1.0f );
    tracy::MemWrite( &item.gpuNewContext.context, lane->id );
    tracy::MemWrite( &item.gpuNewContext.flags, tracy::GpuContextFlags( 0 ) );
    tracy::MemWrite( &item.gpuNewContext.type, tracy::GpuContextType( lane->type ) );
    items.PutForLater( item );

    item = {};
    item.hdr.type = tracy::QueueType::GpuContextName;
    tracy::MemWrite( &item.gpuContextNameFat.context, lane->id );
    tracy::MemWrite( &item.gpuContextNameFat.ptr, (uint64_t)text );
    tracy::MemWrite( &item.gpuContextNameFat.size, size );
    items.PutForLater( item );
}

// Sends a tree, whole or (on demand, while nobody is connected) not at all: the lock is held from its first
// item to its last, so no connection gets a part of it. `open` has room for as many numbers as the tree is deep.
int VARIANT( zones )( tracy::Profiler* profiler, LaneContext* lane, const LaneZone* zones, size_t count, size_t* open )
{
    Items items( profiler );
#ifdef TRACY_ON_DEMAND
    if( !profiler->IsConnected() ) return 0;
#endif
    size_t depth = 0;
    for( size_t i = 0; i < count; i++ )
    {
        while( depth > zones[i].depth ) items.End( *lane, zones[open[--depth]] );
        items.Begin( *lane, zones[i] );
        open[depth++] = i;
    }
    while( depth > 0 ) items.End( *lane, zones[open[--depth]] );
    return 1;
}
}
