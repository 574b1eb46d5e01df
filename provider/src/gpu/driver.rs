//! What CUDA's driver and HIP's runtime have in common: functions of the same shapes under other names, and
//! the same numbers for errors.
//!
//! The functions are called through pointers that return plain numbers: a code that a newer driver
//! adds is one more number. Those that are needed are looked up at once, so a driver that lacks one is an
//! error at the start; others may be absent.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

use super::{Error, ErrorKind, Event, Graph, GraphExec, Node, Status, Stream};

const DEINITIALIZED: u32 = 4;
pub(super) const NO_DEVICE: u32 = 100;
const NOT_READY: u32 = 600;
const CAPTURE_UNSUPPORTED: u32 = 900;
const CAPTURED_EVENT: u32 = 907;
const NON_BLOCKING: c_uint = 1;
const RELAXED: c_uint = 2;

type Handle = *mut c_void;
type Lookup<'a> = &'a dyn Fn(&'static str) -> Option<*const c_void>;

/// The names of the functions, and the codes of a driver that cannot be used.
pub(super) struct Names {
    pub(super) init: &'static str,
    pub(super) device_count: &'static str,
    pub(super) device_get_name: &'static str,
    pub(super) event_create: &'static str,
    pub(super) event_destroy: &'static str,
    pub(super) event_record: &'static str,
    pub(super) event_query: &'static str,
    pub(super) event_elapsed: &'static str,
    pub(super) stream_create: &'static str,
    pub(super) stream_destroy: &'static str,
    pub(super) stream_is_capturing: &'static str,
    pub(super) exchange_mode: &'static str,
    pub(super) add_event_node: &'static str,
    pub(super) set_event_node: &'static str,
    pub(super) no_device: &'static [u32],
    pub(super) stub: Option<u32>,
}

impl Names {
    /// What one of the first calls returned.
    fn started(&self, call: &'static str, code: u32, error_name: fn(u32) -> String) -> Result<(), Error> {
        match code {
            0 => Ok(()),
            code if self.stub == Some(code) => Err(ErrorKind::Stub { call }.into()),
            code if self.no_device.contains(&code) => Err(ErrorKind::NoDevice { call }.into()),
            code => Err(Error::call(call, code, error_name(code))),
        }
    }

    /// Starts the driver. Returns how many devices it has: one at least.
    ///
    /// # Safety
    /// As for [`Driver::load`].
    unsafe fn start(&self, error_name: fn(u32) -> String, lookup: Lookup<'_>) -> Result<c_int, Error> {
        let mut devices = 0;
        // SAFETY: the types are those of the functions of these names; the second one writes a number.
        unsafe {
            let init: unsafe extern "C" fn(c_uint) -> u32 = function(lookup, self.init)?;
            let count: unsafe extern "C" fn(*mut c_int) -> u32 = function(lookup, self.device_count)?;
            self.started(self.init, init(0), error_name)?;
            self.started(self.device_count, count(&mut devices), error_name)?;
        }
        match devices {
            0 => Err(ErrorKind::NoDevice { call: self.device_count }.into()),
            devices => Ok(devices),
        }
    }
}

type AddEventNode = unsafe extern "C" fn(*mut Handle, Handle, *const Handle, usize, Handle) -> u32;
type SetEventNode = unsafe extern "C" fn(Handle, Handle, Handle) -> u32;

/// A driver's functions.
pub(super) struct Driver {
    names: &'static Names,
    error_name: fn(u32) -> String,
    /// Of how many parts in 2^24 a time between events may be off.
    roundings: i64,
    /// How many devices there are.
    pub(super) devices: c_int,
    device_get_name: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> u32,
    event_create: unsafe extern "C" fn(*mut Handle, c_uint) -> u32,
    event_destroy: unsafe extern "C" fn(Handle) -> u32,
    event_record: unsafe extern "C" fn(Handle, Handle) -> u32,
    event_query: unsafe extern "C" fn(Handle) -> u32,
    event_elapsed: unsafe extern "C" fn(*mut f32, Handle, Handle) -> u32,
    stream_create: unsafe extern "C" fn(*mut Handle, c_uint) -> u32,
    stream_destroy: unsafe extern "C" fn(Handle) -> u32,
    stream_is_capturing: unsafe extern "C" fn(Handle, *mut c_int) -> u32,
    exchange_mode: unsafe extern "C" fn(*mut c_uint) -> u32,
    add_event_node: Option<AddEventNode>,
    set_event_node: Option<SetEventNode>,
}

/// Looks a function up.
///
/// # Safety
/// `F` is the type of the function's pointer.
pub(super) unsafe fn function<F: Copy>(lookup: Lookup<'_>, symbol: &'static str) -> Result<F, Error> {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    let found = lookup(symbol).ok_or(ErrorKind::SymbolMissing { symbol })?;
    // SAFETY: by this function's contract; both are pointers.
    Ok(unsafe { core::mem::transmute_copy(&found) })
}

impl Driver {
    /// Starts the driver and looks all functions up.
    ///
    /// # Safety
    /// `lookup` finds the functions of a CUDA driver or a HIP runtime, which stays loaded.
    pub(super) unsafe fn load(
        names: &'static Names,
        error_name: fn(u32) -> String,
        roundings: i64,
        lookup: Lookup<'_>,
    ) -> Result<Self, Error> {
        // SAFETY: the fields have the types of CUDA's functions of these names, and HIP has taken them over.
        unsafe {
            Ok(Self {
                names,
                error_name,
                roundings,
                devices: names.start(error_name, lookup)?,
                device_get_name: function(lookup, names.device_get_name)?,
                event_create: function(lookup, names.event_create)?,
                event_destroy: function(lookup, names.event_destroy)?,
                event_record: function(lookup, names.event_record)?,
                event_query: function(lookup, names.event_query)?,
                event_elapsed: function(lookup, names.event_elapsed)?,
                stream_create: function(lookup, names.stream_create)?,
                stream_destroy: function(lookup, names.stream_destroy)?,
                stream_is_capturing: function(lookup, names.stream_is_capturing)?,
                exchange_mode: function(lookup, names.exchange_mode)?,
                add_event_node: function(lookup, names.add_event_node).ok(),
                set_event_node: function(lookup, names.set_event_node).ok(),
            })
        }
    }

    pub(super) fn device_names(&self) -> Vec<String> {
        let name = |device| self.device_name(device).unwrap_or_else(|| "a device without a name".into());
        (0..self.devices).map(name).collect()
    }

    pub(super) fn device_name(&self, device: c_int) -> Option<String> {
        let mut name = [0; 128];
        // SAFETY: it writes at most as many bytes as it is told.
        let code = unsafe { (self.device_get_name)(name.as_mut_ptr(), 127, device) };
        // SAFETY: the last byte is 0, since there was room for one less.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        (code == 0).then(|| name.to_string_lossy().into_owned())
    }

    /// Optional functions that are not there.
    pub(super) fn lacks(&self) -> Vec<&'static str> {
        let add = self.add_event_node.is_none().then_some(self.names.add_event_node);
        let set = self.set_event_node.is_none().then_some(self.names.set_event_node);
        add.into_iter().chain(set).collect()
    }

    /// What a call returned, as a result.
    #[inline]
    pub(super) fn check(&self, call: &'static str, code: u32) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(self.error(call, code)) }
    }

    #[cold]
    fn error(&self, call: &'static str, code: u32) -> Error {
        match code {
            DEINITIALIZED => ErrorKind::Ended { call }.into(),
            code => Error::call(call, code, (self.error_name)(code)),
        }
    }

    /// Calls `collect` while this thread's calls break nobody's capture.
    pub(super) fn relaxed(&self, collect: &mut dyn FnMut()) -> Result<(), Error> {
        let mut mode = RELAXED;
        // SAFETY: the function takes a mode and gives back the one before.
        self.check(self.names.exchange_mode, unsafe { (self.exchange_mode)(&mut mode) })?;
        collect();
        // SAFETY: as above.
        self.check(self.names.exchange_mode, unsafe { (self.exchange_mode)(&mut mode) })
    }

    pub(super) fn create_event(&self) -> Result<Event, Error> {
        let mut event = core::ptr::null_mut();
        // SAFETY: the function writes one handle. Flags 0: with times.
        self.check(self.names.event_create, unsafe { (self.event_create)(&mut event, 0) })?;
        Ok(Event(event))
    }

    pub(super) fn create_stream(&self) -> Result<Stream, Error> {
        let mut stream = core::ptr::null_mut();
        // SAFETY: the function writes one handle.
        self.check(self.names.stream_create, unsafe { (self.stream_create)(&mut stream, NON_BLOCKING) })?;
        Ok(Stream(stream))
    }

    /// # Safety
    /// The event is the driver's and alive.
    pub(super) unsafe fn destroy_event(&self, event: Event) {
        // SAFETY: by this function's contract.
        unsafe { (self.event_destroy)(event.0) };
    }

    /// # Safety
    /// The stream is the driver's and alive.
    pub(super) unsafe fn destroy_stream(&self, stream: Stream) {
        // SAFETY: by this function's contract.
        unsafe { (self.stream_destroy)(stream.0) };
    }

    /// # Safety
    /// Event and stream are the driver's and alive.
    #[inline]
    pub(super) unsafe fn record(&self, event: Event, stream: Stream) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        self.check(self.names.event_record, unsafe { (self.event_record)(event.0, stream.0) })
    }

    /// # Safety
    /// The event is the driver's and alive.
    pub(super) unsafe fn query(&self, event: Event) -> Result<Status, Error> {
        // SAFETY: by this function's contract.
        match unsafe { (self.event_query)(event.0) } {
            0 => Ok(Status::Done),
            NOT_READY => Ok(Status::Pending),
            CAPTURED_EVENT | CAPTURE_UNSUPPORTED => Ok(Status::Captured),
            code => Err(self.error(self.names.event_query, code)),
        }
    }

    /// # Safety
    /// Both events are the driver's and alive.
    pub(super) unsafe fn elapsed_ns(&self, earlier: Event, later: Event) -> Result<i64, Error> {
        let mut ms = 0.0_f32;
        // SAFETY: by this function's contract; it writes one float.
        let code = unsafe { (self.event_elapsed)(&mut ms, earlier.0, later.0) };
        self.check(self.names.event_elapsed, code)?;
        // Rounded, not cut off: below 16 ms that is the device's own count of nanoseconds.
        Ok((f64::from(ms) * 1e6).round() as i64)
    }

    pub(super) fn rounding_ns(&self, elapsed_ns: i64) -> i64 {
        const EXACT: i64 = 16_000_000;
        let ns = elapsed_ns.saturating_abs();
        if ns < EXACT { 0 } else { (ns >> 24) * self.roundings + 1 }
    }

    /// # Safety
    /// The stream is the driver's and alive.
    #[inline]
    pub(super) unsafe fn is_capturing(&self, stream: Stream) -> Result<bool, Error> {
        let mut status = 0;
        // SAFETY: by this function's contract; it writes one number.
        let code = unsafe { (self.stream_is_capturing)(stream.0, &mut status) };
        self.check(self.names.stream_is_capturing, code)?;
        Ok(status != 0)
    }

    /// # Safety
    /// All handles are the driver's and alive.
    pub(super) unsafe fn add_graph_event(
        &self,
        graph: Graph,
        after: &[Node],
        event: Event,
    ) -> Result<Node, Error> {
        let symbol = self.names.add_event_node;
        let add = self.add_event_node.ok_or(ErrorKind::SymbolMissing { symbol })?;
        let mut node = core::ptr::null_mut();
        // SAFETY: by this function's contract; nodes are handles, of which there are so many.
        self.check(symbol, unsafe { add(&mut node, graph.0, after.as_ptr().cast(), after.len(), event.0) })?;
        Ok(Node(node))
    }

    /// # Safety
    /// All handles are the driver's and alive.
    pub(super) unsafe fn set_graph_event(
        &self,
        graph: GraphExec,
        node: Node,
        event: Event,
    ) -> Result<(), Error> {
        let symbol = self.names.set_event_node;
        let set = self.set_event_node.ok_or(ErrorKind::SymbolMissing { symbol })?;
        // SAFETY: by this function's contract.
        self.check(symbol, unsafe { set(graph.0, node.0, event.0) })
    }
}

/// A library's functions, found when they are first asked for, and what can be told of them.
macro_rules! loaded {
    ($what:literal) => {
        fn functions() -> Result<&'static Functions, Error> {
            static FUNCTIONS: std::sync::OnceLock<Result<Functions, Error>> = std::sync::OnceLock::new();
            FUNCTIONS.get_or_init(load).as_ref().map_err(Clone::clone)
        }

        #[doc = concat!("Whether ", $what, " can be used on this machine: its library is there, and has a device.")]
        ///
        /// # Errors
        /// Why not, in a sentence that says what to do.
        pub fn check() -> Result<(), Error> {
            functions().map(drop)
        }

        #[doc = concat!("The names of ", $what, "'s devices.")]
        ///
        /// # Errors
        /// As for [`check`].
        pub fn devices() -> Result<Vec<String>, Error> {
            functions().map(|functions| functions.driver.device_names())
        }

        pub(super) fn lacks() -> Vec<&'static str> {
            functions().map_or_else(|_| Vec::new(), |functions| functions.driver.lacks())
        }
    };
}
pub(super) use loaded;

/// Hands a backend's calls on to its driver, where they need no precaution.
macro_rules! forward {
    () => {
        unsafe fn destroy_event(&self, event: $crate::gpu::Event) {
            // SAFETY: by the trait's contract.
            unsafe { self.driver.destroy_event(event) };
        }

        #[inline]
        unsafe fn record(
            &self,
            event: $crate::gpu::Event,
            stream: $crate::gpu::Stream,
        ) -> Result<(), $crate::gpu::Error> {
            // SAFETY: by the trait's contract.
            unsafe { self.driver.record(event, stream) }
        }

        unsafe fn query(&self, event: $crate::gpu::Event) -> Result<$crate::gpu::Status, $crate::gpu::Error> {
            // SAFETY: by the trait's contract.
            unsafe { self.driver.query(event) }
        }

        unsafe fn elapsed_ns(
            &self,
            earlier: $crate::gpu::Event,
            later: $crate::gpu::Event,
        ) -> Result<i64, $crate::gpu::Error> {
            // SAFETY: by the trait's contract.
            unsafe { self.driver.elapsed_ns(earlier, later) }
        }

        fn rounding_ns(&self, elapsed_ns: i64) -> i64 {
            self.driver.rounding_ns(elapsed_ns)
        }

        #[inline]
        unsafe fn is_capturing(&self, stream: $crate::gpu::Stream) -> Result<bool, $crate::gpu::Error> {
            // SAFETY: by the trait's contract.
            unsafe { self.driver.is_capturing(stream) }
        }

        unsafe fn destroy_stream(&self, stream: $crate::gpu::Stream) {
            // SAFETY: by the trait's contract.
            unsafe { self.driver.destroy_stream(stream) };
        }

        unsafe fn add_graph_event(
            &self,
            graph: $crate::gpu::Graph,
            after: &[$crate::gpu::Node],
            event: $crate::gpu::Event,
        ) -> Result<$crate::gpu::Node, $crate::gpu::Error> {
            // SAFETY: by the trait's contract.
            unsafe { self.driver.add_graph_event(graph, after, event) }
        }

        unsafe fn set_graph_event(
            &self,
            graph: $crate::gpu::GraphExec,
            node: $crate::gpu::Node,
            event: $crate::gpu::Event,
        ) -> Result<(), $crate::gpu::Error> {
            // SAFETY: by the trait's contract.
            unsafe { self.driver.set_graph_event(graph, node, event) }
        }
    };
}
pub(super) use forward;
