// A C++ program that uses Tracy's own macros.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "Tracy.hpp"

static const char* const POOL = "arena";

static void zones()
{
    ZoneScopedNC( "coloured", 0x00C0FFEE );
    {
        ZoneScopedN( "static name" );
        ZoneName( "dynamic name", 12 );
        ZoneText( "first", 5 );
        ZoneText( "second", 6 );
        ZoneValue( 42 );
        ZoneColor( 0x112233 );
    }
    {
        ZoneTransientN( transient, "transient", true );
    }
    {
        // A deep callstack, and a long text that needs the wire's long form.
        ZoneScopedNS( "with callstack", 16 );
        char text[1000];
        memset( text, 'x', sizeof( text ) );
        ZoneText( text, sizeof( text ) );
    }
}

static void locks()
{
    static TracyLockableN( std::mutex, lock, "a mutex" );
    static TracySharedLockableN( std::shared_mutex, shared, "a shared mutex" );
    LockableName( lock, "renamed", 7 );
    auto body = [] {
        tracy::SetThreadName( "locker" );
        for( int i=0; i<10; i++ )
        {
            std::lock_guard<LockableBase( std::mutex )> guard( lock );
            LockMark( lock );
        }
        std::shared_lock<SharedLockableBase( std::shared_mutex )> reader( shared );
    };
    std::thread first( body ), second( body );
    first.join();
    second.join();
    shared.lock();
    shared.unlock();
}

static void messages()
{
    TracyMessage( "said", 4 );
    TracyMessageL( "literal" );
    TracyMessageLC( "coloured literal", 0xFF8800 );
    TracyLogString( tracy::MessageSeverity::Error, 0xFF0000, 8, "an error" );
    TracyAppInfo( "version 7", 9 );
    int section = TracySectionEnter( "warm-up %d", 1 );
    TracySectionLeave( section );
}

static void memory()
{
    void* block = malloc( 100 );
    TracyAlloc( block, 100 );
    TracyFree( block );
    TracyAllocNS( block, 200, 8, POOL );
    TracyFreeN( block, POOL );
    TracyAllocN( block, 300, POOL );
    TracyMemoryDiscard( POOL );
    free( block );
}

static void plots()
{
    TracyPlotConfig( "queue", tracy::PlotFormatType::Memory, true, false, 0x00FF00 );
    TracyPlot( "queue", int64_t( 3 ) );
    TracyPlot( "queue", 4.5 );
    TracyPlot( "queue", 0.5f );
    FrameMark;
    FrameMarkNamed( "tick" );
    FrameMarkStart( "burst" );
    FrameMarkEnd( "burst" );
}

#ifdef TRACY_FIBERS
static void fibers()
{
    TracyFiberEnter( "job 1" );
    {
        ZoneScopedN( "in job 1" );
        TracyFiberEnter( "job 2" );
        {
            ZoneScopedN( "in job 2" );
        }
        TracyFiberEnter( "job 1" );
    }
    TracyFiberLeave;
    {
        ZoneScopedN( "outside" );
    }
}
#endif

extern "C" int run_macros( const char* name )
{
    if( strcmp( name, "zones" ) == 0 ) zones();
    else if( strcmp( name, "locks" ) == 0 ) locks();
    else if( strcmp( name, "messages" ) == 0 ) messages();
    else if( strcmp( name, "memory" ) == 0 ) memory();
    else if( strcmp( name, "plots" ) == 0 ) plots();
#ifdef TRACY_FIBERS
    else if( strcmp( name, "fibers" ) == 0 ) fibers();
#endif
    else return 0;
    return 1;
}
