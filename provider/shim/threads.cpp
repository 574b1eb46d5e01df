// Tells Rust when a thread ends and when the process does, each time before Tracy takes away what
// the thread records to.
//
// * A thread's queue is handed to other threads by the destructor of a thread-local of Tracy's.
//   Destructors run in the reverse order of construction; ours is constructed when Tracy's has
//   been. Rust does not say in what order its own thread-locals are destroyed.
// * All queues are freed by the destructor of a static of Tracy's, which has a priority. Ours, an
//   ordinary static, is destroyed before; Tracy joins its own threads in between.
#include <atomic>
#include <thread>

extern "C" {

struct Callbacks
{
    void ( *thread_ends )( void* thread );    // on that thread
    void ( *process_ends )( void* thread );   // on the exiting thread, while that thread runs on
};

extern std::atomic<bool> zonecast_tracy_process_ends;
std::atomic<bool> zonecast_tracy_process_ends( false );
}

namespace
{
struct Thread;

// No mutex: its destructor might run before the last thread has ended.
std::atomic_flag s_lock = ATOMIC_FLAG_INIT;
Thread* s_first = nullptr;

struct Locked
{
    Locked() { while( s_lock.test_and_set( std::memory_order_acquire ) ) std::this_thread::yield(); }
    ~Locked() { s_lock.clear( std::memory_order_release ); }
};

struct Thread
{
    void* rust = nullptr;
    const Callbacks* callbacks = nullptr;
    Thread* next = nullptr;
    Thread** back = nullptr;

    void Join( void* thread, const Callbacks* calls )
    {
        rust = thread;
        callbacks = calls;
        Locked locked;
        next = s_first;
        if( next ) next->back = &next;
        back = &s_first;
        s_first = this;
    }

    ~Thread()
    {
        if( !rust ) return;
        callbacks->thread_ends( rust );
        Locked locked;
        *back = next;
        if( next ) next->back = back;
    }
};

thread_local Thread t_thread;

struct Process
{
    ~Process()
    {
        zonecast_tracy_process_ends.store( true, std::memory_order_seq_cst );
        Locked locked;
        for( auto thread = s_first; thread; thread = thread->next ) thread->callbacks->process_ends( thread->rust );
    }
} s_process;
}

extern "C" {

// Once for each thread, after Tracy's thread-locals were constructed.
void zonecast_tracy_thread_begins( void* thread, const Callbacks* callbacks )
{
    if( !t_thread.rust ) t_thread.Join( thread, callbacks );
}

// Calls visit for each thread that has begun and not ended.
void zonecast_tracy_each_thread( void ( *visit )( void* thread, void* context ), void* context )
{
    Locked locked;
    for( auto thread = s_first; thread; thread = thread->next ) visit( thread->rust, context );
}
}
