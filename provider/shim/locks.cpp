// Locks, as Tracy's own records of them, but announced anew to each profiler.
//
// A profiler that has its asserts dies of a lock that is obtained by a thread that did not wait for it, as
// Tracy's records send a successful try; that is released more often than obtained, as they send a lock
// that was obtained in an earlier connection; or that more threads use than a mask has bits. So a wait is
// remembered by the connection that it was recorded in, a wait of no time stands in for one that was not,
// and a lock has its threads and how often it was obtained in this connection and not released.
#include "shared.hpp"

#include <algorithm>

using tracy::Profiler;

namespace
{
// As many as the profiler's masks of threads have bits; it counts what is obtained in a byte.
const size_t MaxThreads = 64;
const uint64_t MaxObtained = 255;
}

extern "C" {

struct Lock
{
    uint64_t location;
    int64_t announced_at;
    // What follows is read and written under the queue's lock. The connection that it was announced in, how
    // often it was obtained in that one and not released, and by which threads it was used.
    uint64_t connection;
    uint64_t obtained;
    size_t thread_count;
    uint32_t threads[MaxThreads];
    char* name;
    uint16_t name_size;
    // A text that was put is the client's.
    bool is_name_out;
    uint32_t id;
};
}

namespace
{
// Whether an event is worth taking the queue's lock.
bool IsHeard( const Profiler* profiler )
{
#ifdef TRACY_ON_DEMAND
    return profiler->IsConnected();
#else
    (void)profiler;
    return true;
#endif
}

void FreeName( const Lock& lock )
{
    if( lock.name && !lock.is_name_out ) tracy::tracy_free( lock.name );
}

struct LockItems : SharedItems
{
    using SharedItems::SharedItems;

    bool Knows( const Lock& lock ) const { return lock.connection != 0 && lock.connection == Connection(); }

    // Whether there is somebody to send to, who then knows the lock.
    bool Announce( Lock& lock )
    {
        const auto connection = Connection();
        if( connection == 0 ) return false;
        if( connection != lock.connection )
        {
            lock.connection = connection;
            lock.obtained = 0;
            lock.thread_count = 0;
            New( lock );
            if( lock.name ) Name( lock );
        }
        return true;
    }

    // Whether the profiler has room for this thread among those that use the lock.
    bool Admit( Lock& lock, uint32_t thread )
    {
        const auto end = lock.threads + lock.thread_count;
        if( std::find( lock.threads, end, thread ) != end ) return true;
        if( lock.thread_count == MaxThreads ) return false;
        lock.threads[lock.thread_count++] = thread;
        return true;
    }

    void New( const Lock& lock )
    {
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::LockAnnounce;
        tracy::MemWrite( &item.lockAnnounce.id, lock.id );
        tracy::MemWrite( &item.lockAnnounce.time, lock.announced_at );
        tracy::MemWrite( &item.lockAnnounce.lckloc, lock.location );
        tracy::MemWrite( &item.lockAnnounce.type, tracy::LockType::Lockable );
        Put( item );
    }

    void Name( Lock& lock )
    {
        lock.is_name_out = true;
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::LockName;
        tracy::MemWrite( &item.lockNameFat.id, lock.id );
        tracy::MemWrite( &item.lockNameFat.name, uint64_t( lock.name ) );
        tracy::MemWrite( &item.lockNameFat.size, lock.name_size );
        Put( item );
    }

    void Wait( const Lock& lock, uint32_t thread )
    {
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::LockWait;
        tracy::MemWrite( &item.lockWait.thread, thread );
        tracy::MemWrite( &item.lockWait.id, lock.id );
        tracy::MemWrite( &item.lockWait.time, Profiler::GetTime() );
        Put( item );
    }

    void Obtain( Lock& lock, uint32_t thread )
    {
        lock.obtained++;
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::LockObtain;
        tracy::MemWrite( &item.lockObtain.thread, thread );
        tracy::MemWrite( &item.lockObtain.id, lock.id );
        tracy::MemWrite( &item.lockObtain.time, Profiler::GetTime() );
        Put( item );
    }

    void Release( Lock& lock )
    {
        lock.obtained--;
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::LockRelease;
        tracy::MemWrite( &item.lockRelease.id, lock.id );
        tracy::MemWrite( &item.lockRelease.time, Profiler::GetTime() );
        Put( item );
    }

    void Terminate( const Lock& lock )
    {
        tracy::QueueItem item = {};
        item.hdr.type = tracy::QueueType::LockTerminate;
        tracy::MemWrite( &item.lockTerminate.id, lock.id );
        tracy::MemWrite( &item.lockTerminate.time, Profiler::GetTime() );
        Put( item );
    }
};
}

extern "C" {

Lock* VARIANT( lock_announce )( Profiler* profiler, uint64_t location )
{
    auto lock = new( tracy::tracy_malloc( sizeof( Lock ) ) ) Lock();
    lock->location = location;
    lock->announced_at = Profiler::GetTime();
    lock->id = tracy::GetLockCounter().fetch_add( 1, std::memory_order_relaxed );
    LockItems( profiler ).Announce( *lock );
    return lock;
}

void VARIANT( lock_name )( Profiler* profiler, Lock* lock, const char* text, uint16_t size )
{
    const auto copy = CopyText( text, size );
    LockItems items( profiler );
    FreeName( *lock );
    lock->name = copy;
    lock->name_size = size;
    lock->is_name_out = false;
    if( items.Knows( *lock ) ) items.Name( *lock );
}

// Returns the connection that the wait was recorded in, or 0.
uint64_t VARIANT( lock_wait )( Profiler* profiler, Lock* lock )
{
    if( !IsHeard( profiler ) ) return 0;
    const auto thread = tracy::GetThreadHandle();
    LockItems items( profiler );
    if( !items.Announce( *lock ) || !items.Admit( *lock, thread ) ) return 0;
    items.Wait( *lock, thread );
    return lock->connection;
}

// `waited_in` is what the wait returned, 0 if there was none.
void VARIANT( lock_obtain )( Profiler* profiler, Lock* lock, uint64_t waited_in )
{
    if( !IsHeard( profiler ) ) return;
    const auto thread = tracy::GetThreadHandle();
    LockItems items( profiler );
    if( !items.Announce( *lock ) || lock->obtained == MaxObtained || !items.Admit( *lock, thread ) ) return;
    if( waited_in != lock->connection ) items.Wait( *lock, thread );
    items.Obtain( *lock, thread );
}

void VARIANT( lock_release )( Profiler* profiler, Lock* lock )
{
    if( !IsHeard( profiler ) ) return;
    LockItems items( profiler );
    if( items.Knows( *lock ) && lock->obtained != 0 ) items.Release( *lock );
}

void VARIANT( lock_terminate )( Profiler* profiler, Lock* lock )
{
    {
        LockItems items( profiler );
        if( items.Knows( *lock ) ) items.Terminate( *lock );
    }
    FreeName( *lock );
    tracy::tracy_free( lock );
}
}
