// Lines of application info, on demand: each connection gets each line once.
//
// Of a line, too, Tracy's client would keep one in its list (see `shared.hpp`) and put one into the thread's
// queue. Here a line goes into the list once it is certain what the list does with it: nothing before the next
// connection, or nothing more in this one. The former is so while nobody is connected and we hold the list's
// lock. The latter is so if the client has taken the line from a thread's queue in this connection, for it
// does so only after it has sent the list. Until either is so, the line goes through the queue of a thread,
// once in each connection.
#include "shared.hpp"
#include "layout.hpp"

using namespace tracy;
using zonecast::Queue;

extern "C" {

struct Line
{
    const char* text;
    size_t size;
    // The connection that it was put into a queue for, the queue and the place there.
    uint64_t connection;
    const Queue* queue;
    size_t index;
};
}

namespace
{
FIELD( List, FastVector<QueueItem>, m_deferredQueue )
FIELD( ListLock, TracyMutex, m_deferredLock )

void Write( QueueItem* item, const Line& line )
{
    const auto metadata = MakeMessageMetadata( MessageSourceType::User, MessageSeverity::Info );
    MemWrite( &item->hdr.type, QueueType::MessageAppInfo );
    MemWrite( &item->messageFat.time, Profiler::GetTime() );
    MemWrite( &item->messageFat.textAndMetadata, TaggedUserlandAddress( uint64_t( line.text ), metadata ) );
    MemWrite( &item->messageFat.size, uint16_t( line.size ) );
}

QueueItem* Put( Queue* queue, Line& line )
{
    zonecast::Events::index_t index;
    const auto item = queue->enqueue_begin( index );
    Write( item, line );
    queue->get_tail_index().store( index + 1, std::memory_order_release );
    line.queue = queue;
    line.index = index;
    return item;
}
}

extern "C" {

// Returns whether the line is in the list. `queue` is this thread's.
bool VARIANT( settle )( Profiler* profiler, Queue* queue, Line* line )
{
    // It keeps the next connection from beginning.
    const SharedItems items( profiler );
    const std::lock_guard<TracyMutex> lock( profiler->*Find( ListLock() ) );
    // Looked at before the connection: when queues are cleared for the next one, this one is over.
    const bool is_taken = line->queue && line->queue->IsTaken( line->index );
    const auto connection = items.Connection();
    const bool is_known = connection == line->connection;
    if( connection != 0 && is_known && !is_taken ) return false;
    if( connection != 0 && !is_known )
    {
        line->connection = connection;
        const auto item = Put( queue, *line );
        if( items.Connection() != 0 ) return false;
        // The connection is over, and the queue may have been cleared already, or not. The next one's client
        // has yet to wait for the lock that we hold, so what the item says can still be changed: to nothing.
        MemWrite( &item->hdr.type, QueueType::KeepAlive );
    }
    Write( ( profiler->*Find( List() ) ).push_next(), *line );
    return true;
}
}
