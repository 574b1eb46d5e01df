//! The stand-ins for [`state`](super::state) in builds without a provider: nothing is remembered.

pub(crate) mod intern {
    use core::ffi::CStr;

    use crate::{Interned, Location, LocationParts};

    static NOWHERE: Location = Location::new(None, c"", c"", 0, 0);

    #[inline(always)]
    pub(crate) fn location(_: LocationParts<'_>) -> Interned {
        Interned { location: &NOWHERE, shared_name: None }
    }

    #[inline(always)]
    pub(crate) fn name(_: &str) -> &'static CStr {
        c""
    }
}

pub(crate) mod registry {
    use std::borrow::Cow;
    use std::path::Path;
    use std::sync::Arc;

    use zonecast_embed::{Error, Executable};

    use crate::sources::Text;

    #[derive(Debug)]
    pub(crate) struct Registered(Arc<Executable>);

    impl Registered {
        #[inline(always)]
        pub(crate) fn new(executable: Arc<Executable>) -> Self {
            Self(executable)
        }

        #[inline(always)]
        pub(crate) fn executable(&self) -> &Arc<Executable> {
            &self.0
        }

        #[inline(always)]
        pub(crate) fn claim(&self, _: usize, path: &[u8]) -> String {
            String::from_utf8_lossy(path).into_owned()
        }

        #[inline(always)]
        pub(crate) fn refuse(&self, path: &[u8]) -> String {
            self.claim(0, path)
        }
    }

    /// No text is ever found, so none is anywhere but in a caller's hands.
    pub(crate) enum TextBytes {
        Owned(Vec<u8>),
    }

    impl TextBytes {
        pub(crate) fn bytes(&self) -> &[u8] {
            let Self::Owned(text) = self;
            text
        }
    }

    #[inline(always)]
    pub(crate) fn open(path: &Path) -> Result<Executable, Error> {
        Ok(Executable::empty(&path.to_string_lossy()))
    }

    #[inline(always)]
    pub(crate) fn of_program() -> Executable {
        Executable::empty("program")
    }

    #[inline(always)]
    pub(crate) fn publish(_: &str, _: Cow<'static, [u8]>) {}

    #[inline(always)]
    pub(crate) fn text(_: &[u8]) -> Option<Text> {
        None
    }

    #[inline(always)]
    pub(crate) fn lines(_: &[u8]) -> Vec<u32> {
        Vec::new()
    }
}
