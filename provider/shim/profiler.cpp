// What lies in Tracy's profiler object: the callback for source texts, for which Tracy's C
// interface has no call, and the state of the connection, for which it has none that is cheap.
#include "shared.hpp"

#if defined __linux__ && defined _GNU_SOURCE
#  include <errno.h>
#  include <limits.h>
#  include <sys/stat.h>
#  include <unistd.h>
#endif

using tracy::Profiler;

extern "C" {

// A copy of a text in memory that Tracy may free.
struct Answer
{
    char* text;
    size_t size;
};

// Looks a path up and fills the answer by calling answer() on the text it finds, once or never.
typedef void ( *Lookup )( const char* path, size_t path_size, Answer* answer );
}

namespace
{
Profiler* s_profiler = nullptr;
Lookup s_lookup = nullptr;

// Tracy stores a callback and its data one after the other, unsynchronised with the thread that
// reads them: so the data is not used.
char* Text( void*, const char* path, size_t& size )
{
    Answer answer = { nullptr, 0 };
    if( path && s_lookup ) s_lookup( path, strlen( path ), &answer );
    size = answer.size;
    return answer.text;
}

#if defined __linux__ && defined _GNU_SOURCE
// A profiler asks for no source text if the client does not know how old the program is. The client looks
// at the file that the program was called by: of one that was found through PATH, that is no file. It looks
// once, on a thread that a static of priority 105 starts.
__attribute__( ( constructor( 101 ) ) ) void FindProgram()
{
    struct stat file;
    if( stat( program_invocation_name, &file ) == 0 ) return;
    static char path[PATH_MAX];
    if( readlink( "/proc/self/exe", path, sizeof( path ) - 1 ) > 0 ) program_invocation_name = path;
}
#endif
}

namespace tracy
{
Profiler& VARIANT( GetProfiler )() { return *s_profiler; }
}

extern "C" {

void VARIANT( register_sources )( Profiler* profiler, Lookup lookup )
{
    s_lookup = lookup;
    s_profiler = profiler;
    Profiler::SourceCallbackRegister( Text, nullptr );
}

void VARIANT( answer )( Answer* answer, const char* text, size_t size )
{
    answer->text = static_cast<char*>( tracy::tracy_malloc_fast( size ) );
    if( !answer->text ) return;
    memcpy( answer->text, text, size );
    answer->size = size;
}

const std::atomic<bool>* VARIANT( is_connected )( Profiler* profiler )
{
    return &( profiler->*Find( IsConnected() ) );
}

// How many events of the queue that all threads share nobody has taken.
size_t VARIANT( shared_waiting )( Profiler* profiler )
{
    return SharedItems( profiler ).Size();
}

// Null without on-demand: there is one connection at most.
const std::atomic<uint64_t>* VARIANT( connection_id )( Profiler* profiler )
{
#ifdef TRACY_ON_DEMAND
    return &( profiler->*Find( ConnectionId() ) );
#else
    (void)profiler;
    return nullptr;
#endif
}
}
