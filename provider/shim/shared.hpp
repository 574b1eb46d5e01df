// The queue that all threads share, and what each connection has to be told anew.
//
// Included by files that are compiled with and without on-demand, the one switch that moves the
// profiler object's fields. For these files alone, the object's accessor is one of our own, so that
// the other switches need no variants here; `accessor.cpp` finds the object.
//
// **Announcements.** On demand, Tracy's client keeps what was announced (a lock, a GPU context, their
// names) in a list beside the queue and sends the list to every profiler. But it counts as connected
// some time before it does so: what is announced meanwhile is in the list and in the queue, and the
// profiler gets it twice, which it takes for a fault. So nothing of ours goes into that list. What an
// event needs is put right before the first such event of each connection, once: whoever holds the
// queue's lock and sees that a profiler is connected knows which connection its items go to. For a
// connection begins so, on one thread:
//
// 1. the queue is cleared, under the queue's lock;
// 2. the connection gets its number, one more than the last;
// 3. the client counts as connected.
//
// If the next connection's clearing is behind us, so is the end of this one, and the flag is down, or
// up again for the next: then the number, which was stored before it, is the next one's. If it is not
// behind us, it waits for the lock that we hold, and the number cannot change. Then what we put is sent
// in this connection or, if that ends first, cleared away.
#pragma once
#include "client/TracyMangle.hpp"
#undef MANGLED_NAME_BASED_ON_CONFIG
#define MANGLED_NAME_BASED_ON_CONFIG( base ) VARIANT( base )
#include "client/TracyProfiler.hpp"
#include "common/TracyAlloc.hpp"

#include <atomic>
#include <mutex>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace
{
// An explicit instantiation may name private members: the language's own way to reach a field that
// is not public, which keeps its place in the object the compiler's affair.
template<typename Key, typename Key::Member M>
struct Field
{
    friend typename Key::Member Find( Key ) { return M; }
};

#define FIELD( Key, type, name )                 \
    struct Key                                   \
    {                                            \
        typedef type tracy::Profiler::*Member;   \
        friend Member Find( Key );               \
    };                                           \
    template struct Field<Key, &tracy::Profiler::name>;

FIELD( IsConnected, std::atomic<bool>, m_isConnected )
FIELD( SharedQueue, tracy::FastVector<tracy::QueueItem>, m_serialQueue )
FIELD( SharedLock, tracy::TracyMutex, m_serialLock )
#ifdef TRACY_ON_DEMAND
FIELD( ConnectionId, std::atomic<uint64_t>, m_connectionId )
#endif

// Puts items into the queue while it holds the queue's lock.
class SharedItems
{
public:
    explicit SharedItems( tracy::Profiler* profiler )
        : m_profiler( profiler ), m_queue( profiler->*Find( SharedQueue() ) ), m_lock( profiler->*Find( SharedLock() ) )
    {
    }

    // The number of the connection that takes what is put now, or 0. From the first event on there is
    // but one, which takes what came before it as well.
    uint64_t Connection() const
    {
#ifdef TRACY_ON_DEMAND
        if( !m_profiler->IsConnected() ) return 0;
        return ( m_profiler->*Find( ConnectionId() ) ).load( std::memory_order_acquire );
#else
        return 1;
#endif
    }

    void Put( const tracy::QueueItem& item )
    {
        memcpy( m_queue.prepare_next(), &item, sizeof( item ) );
        m_queue.commit_next();
    }

    size_t Size() const { return m_queue.size(); }

private:
    tracy::Profiler* m_profiler;
    tracy::FastVector<tracy::QueueItem>& m_queue;
    std::lock_guard<tracy::TracyMutex> m_lock;
};

// A text for an item. The client frees it once it has sent it; on demand it leaves it, since its own
// list would hold it for the next profiler. So on demand a text that was put has to stay.
inline char* CopyText( const char* text, size_t size )
{
    const auto copy = static_cast<char*>( tracy::tracy_malloc( size ) );
    memcpy( copy, text, size );
    return copy;
}
}
