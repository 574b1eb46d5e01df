// Trees of zones at given times, with launch times and rows of their own, for which Tracy's C
// interface has no calls.
#include "shared.hpp"

namespace tracy
{
TRACY_API int64_t GetInitTime();
}

namespace
{
// How many nanoseconds a tick is, as Tracy tells the profiler.
FIELD( TimerMul, double, m_timerMul )

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
    // The connection that the context was announced in.
    uint64_t connection;
    // Tracy's to free from the first event on. On demand each announcement needs it.
    const char* name;
    uint32_t row;
    uint16_t query;
    uint16_t name_size;
    uint8_t id;
    uint8_t type;
};
}

namespace
{
struct GpuItems : SharedItems
{
    using SharedItems::SharedItems;

    // Whether there is somebody to send to, who then knows the context.
    bool Announce( LaneContext& lane )
    {
        const auto connection = Connection();
        if( connection == 0 ) return false;
        if( connection != lane.connection )
        {
            lane.connection = connection;
            NewContext( lane );
            Name( lane );
        }
        return true;
    }

    void NewContext( const LaneContext& lane )
    {
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::GpuNewContext;
        tracy::MemWrite( &item.gpuNewContext.cpuTime, lane.ticks );
        tracy::MemWrite( &item.gpuNewContext.gpuTime, lane.origin );
        tracy::MemWrite( &item.gpuNewContext.thread, uint32_t( 0 ) );
        tracy::MemWrite( &item.gpuNewContext.period, 1.0f );
        tracy::MemWrite( &item.gpuNewContext.context, lane.id );
        tracy::MemWrite( &item.gpuNewContext.flags, tracy::GpuContextFlags( 0 ) );
        tracy::MemWrite( &item.gpuNewContext.type, tracy::GpuContextType( lane.type ) );
        Put( item );
    }

    void Name( const LaneContext& lane )
    {
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::GpuContextName;
        tracy::MemWrite( &item.gpuContextNameFat.context, lane.id );
        tracy::MemWrite( &item.gpuContextNameFat.ptr, uint64_t( lane.name ) );
        tracy::MemWrite( &item.gpuContextNameFat.size, lane.name_size );
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

// The client frees those that are sent.
void FreeLocations( const LaneZone* zones, size_t count )
{
    for( size_t i = 0; i < count; i++ )
        if( zones[i].is_allocated ) tracy::tracy_free( reinterpret_cast<void*>( zones[i].location ) );
}
}

extern "C" {

double VARIANT( timer_mul )( tracy::Profiler* profiler ) { return profiler->*Find( TimerMul() ); }

int64_t VARIANT( first_tick )() { return tracy::GetInitTime(); }

// The next id that no context has, or -1.
int32_t VARIANT( next_context )() { return tracy::NextGpuContextId(); }

// Names a new context, and announces it if there is somebody to hear it.
void VARIANT( new_context )( tracy::Profiler* profiler, LaneContext* lane, const char* name, uint16_t size )
{
    lane->name = CopyText( name, size );
    lane->name_size = size;
    GpuItems( profiler ).Announce( *lane );
}

// Sends a tree, whole or (on demand, while nobody is connected) not at all: the lock is held from its first
// item to its last, so no connection gets a part of it. `open` has room for as many numbers as the tree is deep.
void VARIANT( zones )( tracy::Profiler* profiler, LaneContext* lane, const LaneZone* zones, size_t count, size_t* open )
{
    GpuItems items( profiler );
    if( !items.Announce( *lane ) )
    {
        FreeLocations( zones, count );
        return;
    }
    size_t depth = 0;
    for( size_t i = 0; i < count; i++ )
    {
        while( depth > zones[i].depth ) items.End( *lane, zones[open[--depth]] );
        items.Begin( *lane, zones[i] );
        open[depth++] = i;
    }
    while( depth > 0 ) items.End( *lane, zones[open[--depth]] );
}
}
