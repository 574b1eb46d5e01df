// Zones as C++ programs make them: Tracy's macro, inlined.

#include <cstdint>

#include "tracy/Tracy.hpp"

extern "C" void loop_tracy_cxx( uint64_t n )
{
    for( uint64_t i = 0; i < n; i++ )
    {
        ZoneScopedN( "zone" );
        // As the Rust loops' `black_box`.
        asm volatile( "" : : "r"( &i ) : "memory" );
    }
}
