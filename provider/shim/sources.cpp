// Registers the callback that Tracy asks for the text of a source file, for which its C interface
// has no call.
//
// Compiled with and without on-demand, the one switch that moves the fields of Tracy's profiler
// object. For this file alone, the object's accessor is one of our own, so that the other switches
// need no variants here; `accessor.cpp` finds the object.
#include "client/TracyMangle.hpp"
#undef MANGLED_NAME_BASED_ON_CONFIG
#define MANGLED_NAME_BASED_ON_CONFIG( base ) VARIANT( base )
#include "client/TracyProfiler.hpp"
#include "common/TracyAlloc.hpp"

#include <stddef.h>
#include <string.h>

extern "C" {

// A copy of a text in memory that Tracy may free.
struct Answer
{
    char* text;
    size_t size;
};

// Looks a path up and fills the answer by calling copy() on the text it finds, once or never.
typedef void ( *Lookup )( const char* path, size_t path_size, Answer* answer );
}

namespace
{
tracy::Profiler* s_profiler = nullptr;
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
}

namespace tracy
{
Profiler& VARIANT( GetProfiler )() { return *s_profiler; }
}

extern "C" {

void VARIANT( register_sources )( tracy::Profiler* profiler, Lookup lookup )
{
    s_lookup = lookup;
    s_profiler = profiler;
    tracy::Profiler::SourceCallbackRegister( Text, nullptr );
}

void VARIANT( copy )( Answer* answer, const char* text, size_t size )
{
    answer->text = static_cast<char*>( tracy::tracy_malloc_fast( size ) );
    if( !answer->text ) return;
    memcpy( answer->text, text, size );
    answer->size = size;
}

// For the self-check: the flag as this file's layout has it.
int VARIANT( is_connected )( const tracy::Profiler* profiler ) { return profiler->IsConnected(); }
}
