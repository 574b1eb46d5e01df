// An object that is neither linked nor run: it holds the layout as decimal digits, which
// `build/layout.rs` reads. So a build for another machine works as well.
#include "layout.hpp"

#define DIGIT( value, power ) char( '0' + size_t( value ) / power % 10 )
#define LAYOUT( name, value ) \
    DIGIT( value, 10000000 ), DIGIT( value, 1000000 ), DIGIT( value, 100000 ), DIGIT( value, 10000 ), \
    DIGIT( value, 1000 ), DIGIT( value, 100 ), DIGIT( value, 10 ), DIGIT( value, 1 ), ',',

using namespace zonecast;
using namespace tracy;

extern "C" {
extern const char zonecast_tracy_probe[];
const char zonecast_tracy_probe[] = {
    'z', 'o', 'n', 'e', 'c', 'a', 's', 't', '-', 'l', 'a', 'y', 'o', 'u', 't', ':',
#include "layout.def"
    ';' };
}
