//! Run-time locations and names, one each for each content.
//!
//! What is interned is never freed: a profiler may ask for it until the program ends. It is bounded
//! instead, by [`Location::LIMIT`] and [`Name::LIMIT`].

use std::ffi::{CStr, CString};
use std::sync::LazyLock;

use hashbrown::HashMap;
use parking_lot::RwLock;

use super::registry;
use crate::say::say_once;
use crate::{Interned, Location, LocationParts, Name};

#[derive(Default)]
struct Interner {
    texts: HashMap<&'static str, &'static CStr>,
    locations: HashMap<LocationParts<'static>, &'static Location>,
    names: usize,
}

static INTERNER: LazyLock<RwLock<Interner>> = LazyLock::new(RwLock::default);

/// Takes the place of the locations that are too many.
static SHARED: Location = Location::new(None, c"zonecast: too many locations", c"", 0, 0);

/// Takes the place of the names that are too many.
const SHARED_NAME: &CStr = c"zonecast: too many names";

/// See [`Location::intern`].
pub(crate) fn location(parts: LocationParts<'_>) -> Interned {
    let parts = LocationParts {
        name: until_nul(parts.name),
        function: until_nul(parts.function),
        file: until_nul(parts.file),
        ..parts
    };
    if let Some(known) = known_location(&INTERNER.read(), &parts) {
        return known.into();
    }
    let mut interner = INTERNER.write();
    if let Some(known) = known_location(&interner, &parts) {
        return known.into();
    }
    if interner.locations.len() >= Location::LIMIT {
        drop(interner);
        return shared(parts);
    }
    let added = interner.add_location(parts);
    drop(interner);
    // Should the file's text be too long for a viewer, it is cut around the lines that are named.
    registry::name_line(parts.file, parts.line);
    added.into()
}

/// See [`Name::intern`].
pub(crate) fn name(name: &str) -> &'static CStr {
    let name = until_nul(name);
    if let Some(known) = INTERNER.read().texts.get(name) {
        return known;
    }
    let mut interner = INTERNER.write();
    if interner.names >= Name::LIMIT && !interner.texts.contains_key(name) {
        drop(interner);
        say_once!(
            "more than {} names of plots, frames, pools or fibers; further ones are shown as one",
            Name::LIMIT
        );
        return SHARED_NAME;
    }
    interner.names += 1;
    interner.text(name)
}

// The map is covariant in its keys, so a key with a shorter life can be looked up in it.
fn known_location<'a>(interner: &'a Interner, parts: &LocationParts<'a>) -> Option<&'static Location> {
    let locations: &HashMap<LocationParts<'a>, &'static Location> = &interner.locations;
    locations.get(parts).copied()
}

impl Interner {
    /// The text as a C string that is never freed. It holds no NUL.
    fn text(&mut self, text: &str) -> &'static CStr {
        if let Some(known) = self.texts.get(text) {
            return known;
        }
        let copy: &'static CStr = Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str());
        self.texts.insert(as_str(copy), copy);
        copy
    }

    fn add_location(&mut self, parts: LocationParts<'_>) -> &'static Location {
        let name = (!parts.name.is_empty()).then(|| self.text(parts.name));
        let function = self.text(parts.function);
        let file = self.text(parts.file);
        let location: &'static Location =
            Box::leak(Box::new(Location::new(name, function, file, parts.line, parts.color)));
        let key = LocationParts {
            name: name.map_or("", as_str),
            function: as_str(function),
            file: as_str(file),
            ..LocationParts { line: parts.line, color: parts.color, ..LocationParts::default() }
        };
        self.locations.insert(key, location);
        location
    }
}

#[cold]
fn shared(parts: LocationParts<'_>) -> Interned {
    say_once!(
        "more than {} run-time locations; further zones share one and keep only their names, \
         since a Tracy capture ends at 32,000",
        Location::LIMIT
    );
    let name = if parts.name.is_empty() { parts.function } else { parts.name };
    Interned { location: &SHARED, shared_name: Some(name.into()) }
}

fn until_nul(text: &str) -> &str {
    text.split('\0').next().unwrap_or_default()
}

fn as_str(text: &'static CStr) -> &'static str {
    text.to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: u32) -> LocationParts<'static> {
        LocationParts { name: "n", function: "f", file: "intern-test.rs", line, color: 0 }
    }

    #[test]
    fn equal_contents_have_one_address() {
        let first = location(parts(1)).location();
        assert!(std::ptr::eq(first, location(parts(1)).location()));
        assert!(!std::ptr::eq(first, location(parts(2)).location()));
        assert_eq!(first.file(), c"intern-test.rs");
        assert_eq!(first.line(), 1);
    }

    #[test]
    fn a_text_ends_at_its_first_nul() {
        let cut = location(LocationParts { name: "a\0b", function: "f\0", file: "\0x", line: 3, color: 4 });
        assert_eq!(cut.location().name(), Some(c"a"));
        assert_eq!(cut.location().function(), c"f");
        assert_eq!(cut.location().file(), c"");
        assert_eq!(name("q\0r"), c"q");
        assert!(std::ptr::eq(name("q"), name("q\0s")));
    }

    #[test]
    fn without_a_name_the_function_is_the_title() {
        let nameless = location(LocationParts { name: "", ..parts(9) }).location();
        assert_eq!(nameless.name(), None);
        assert_eq!(nameless.title(), c"f");
    }
}
