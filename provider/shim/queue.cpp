// A thread's queue, where Rust does not write to it itself: at a block's end, with a call stack,
// and for texts, which Tracy's allocator has to hold.
//
// Every function takes the queue, so nothing here depends on how Tracy was configured.
#include "layout.hpp"
#include "client/TracyCallstack.hpp"
#include "common/TracyAlloc.hpp"

#include <stdint.h>
#include <string.h>

using namespace zonecast;
using namespace tracy;

namespace tracy
{
// Exported by Tracy's client, but in none of its headers.
TRACY_API moodycamel::ConcurrentQueue<QueueItem>& GetQueue();
}

namespace
{
// As Tracy's own macros, on a queue that is known already. The item gets its fields between.
#define ITEM( queue, kind )                              \
    Events::index_t index;                               \
    QueueItem* item = ( queue )->enqueue_begin( index ); \
    MemWrite( &item->hdr.type, kind );
#define COMMIT( queue ) ( queue )->get_tail_index().store( index + 1, std::memory_order_release );

void Begin( Queue* queue, QueueType type, const void* location, int64_t time )
{
    ITEM( queue, type )
    MemWrite( &item->zoneBegin.time, time );
    MemWrite( &item->zoneBegin.srcloc, uint64_t( location ) );
    COMMIT( queue )
}

void End( Queue* queue, int64_t time )
{
    ITEM( queue, QueueType::ZoneEnd )
    MemWrite( &item->zoneEnd.time, time );
    COMMIT( queue )
}
}

extern "C" {

void zonecast_tracy_zone_begin( Queue* queue, const void* location )
{
    Begin( queue, QueueType::ZoneBegin, location, Profiler::GetTime() );
}

void zonecast_tracy_zone_begin_callstack( Queue* queue, const void* location, int32_t depth )
{
    auto type = QueueType::ZoneBegin;
    if( depth > 0 && has_callstack() )
    {
        const auto stack = Callstack( depth );
        ITEM( queue, QueueType::Callstack )
        MemWrite( &item->callstackFat.ptr, uint64_t( stack ) );
        COMMIT( queue )
        type = QueueType::ZoneBeginCallstack;
    }
    Begin( queue, type, location, Profiler::GetTime() );
}

void zonecast_tracy_zone_end( Queue* queue )
{
    End( queue, Profiler::GetTime() );
}

void zonecast_tracy_zone_switch( Queue* queue, const void* location )
{
    const auto now = Profiler::GetTime();
    End( queue, now );
    Begin( queue, QueueType::ZoneBegin, location, now );
}

// A copy that Tracy may free; null if there is no memory.
char* zonecast_tracy_copy( const char* text, size_t size )
{
    const auto copy = static_cast<char*>( tracy_malloc( size ) );
    if( copy ) memcpy( copy, text, size );
    return copy;
}

// A message's text and severity in one word, as its item has them; 0 if there is no memory.
uint64_t zonecast_tracy_copy_message( const char* text, size_t size, int8_t severity )
{
    const auto copy = zonecast_tracy_copy( text, size );
    if( !copy ) return 0;
    const auto metadata = MakeMessageMetadata( MessageSourceType::User, MessageSeverity( severity ) );
    const TaggedUserlandAddress tagged( uint64_t( copy ), metadata );
    uint64_t word;
    static_assert( sizeof( tagged ) == sizeof( word ), "one word" );
    memcpy( &word, &tagged, sizeof( word ) );
    return word;
}

// How many events of the queue nobody has taken.
size_t zonecast_tracy_waiting( const Queue* queue ) { return queue->size_approx(); }

// Whether anybody ever took one.
bool zonecast_tracy_was_taken_from( const Queue* queue ) { return queue->WasTakenFrom(); }

// How many events of all queues nobody has taken.
size_t zonecast_tracy_all_waiting() { return GetQueue().size_approx(); }

uint32_t zonecast_tracy_thread_id() { return GetThreadHandle(); }

// Whether Rust's constants are what this file was compiled with.
bool zonecast_tracy_is_layout( const size_t* values, size_t count )
{
#define LAYOUT( name, value ) size_t( value ),
    const size_t layout[] = {
#include "layout.def"
    };
    return sizeof( layout ) == count * sizeof( *values ) && memcmp( layout, values, sizeof( layout ) ) == 0;
}
}
