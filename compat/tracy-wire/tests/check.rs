//! One stream per rule of the real server, built by hand to break that rule and no other.

use zonecast_tracy_wire::protocol::{ALLOCATED_LOCATION_LIMIT, STATIC_LOCATION_LIMIT};
use zonecast_tracy_wire::{
    Checker, Detail, Effect, FrameSort, Item, Location, OnDemand, Payload, PlotValue, Question, Rule,
    Violation, Welcome,
};

const CONTEXT: u8 = 3;
/// 40 hours, in nanoseconds: more than 48 bits hold.
const TOO_LATE: i64 = 40 * 3600 * 1_000_000_000;

fn violations_for(welcome: &Welcome, items: &[Item<'_>]) -> Vec<Violation> {
    let mut checker = Checker::new(welcome);
    checker.item(&Item::ThreadContext { thread: 1 });
    items.iter().for_each(|item| checker.item(item));
    checker.finish()
}

/// Asserts that the last of `items`, or their end, breaks `rule`, and that nothing else is broken.
#[track_caller]
fn breaks(items: &[Item<'_>], rule: Rule) {
    let violations = violations_for(&Welcome::default(), items);
    let rules: Vec<&Rule> = violations.iter().map(|violation| &violation.rule).collect();
    assert_eq!(rules, [&rule]);
    if let Some(item) = violations[0].item {
        assert_eq!(item, items.len() as u64, "the item that broke it is named");
    }
    assert!(!violations[0].to_string().is_empty());
}

#[track_caller]
fn keeps(items: &[Item<'_>]) {
    assert_eq!(violations_for(&Welcome::default(), items), []);
}

const BEGIN: Item<'static> = begin(10);
const END: Item<'static> = Item::ZoneEnd { time: 20 };
const TEXT: Item<'static> = Item::SingleString(b"text");
const LOCATION: Item<'static> =
    Item::LocationPayload(Location { name: None, function: b"f", file: b"file", line: 1, color: 0 });
const STACK: Item<'static> = Item::CallstackPayload { frames: &[0x10, 0, 0, 0, 0, 0, 0, 0] };

const fn begin(time: i64) -> Item<'static> {
    Item::ZoneBegin { time, location: Some(0x40), callstack: false }
}

const fn message(metadata: u8, callstack: bool) -> Item<'static> {
    Item::Message { time: 1, literal: Some(0x50), color: None, metadata, callstack }
}

const fn context() -> Item<'static> {
    gpu_context(CONTEXT, 7, false)
}

const fn gpu_context(context: u8, sort: u8, calibrated: bool) -> Item<'static> {
    Item::GpuNewContext { cpu_time: 0, gpu_time: 0, thread: 0, period: 1.0, context, calibrated, sort }
}

const fn gpu_begin(query: u16) -> Item<'static> {
    Item::GpuZoneBegin {
        cpu_time: 5,
        thread: 1,
        query,
        context: CONTEXT,
        location: Some(0x40),
        callstack: false,
        serial: true,
    }
}

const fn gpu_end(query: u16) -> Item<'static> {
    Item::GpuZoneEnd { cpu_time: 6, thread: 1, query, context: CONTEXT, serial: true }
}

const fn gpu_time(query: u16, gpu_time: i64) -> Item<'static> {
    Item::GpuTime { gpu_time, query, context: CONTEXT }
}

/// A zone with both its times.
const fn gpu_zone(query: u16, start: i64, end: i64) -> [Item<'static>; 4] {
    [gpu_begin(query), gpu_end(query + 1), gpu_time(query, start), gpu_time(query + 1, end)]
}

const fn alloc(time: i64, address: u64, named: bool) -> Item<'static> {
    Item::MemAlloc { time, thread: 1, address, size: 8, named, callstack: false }
}

const fn free(address: u64) -> Item<'static> {
    Item::MemFree { time: 9, thread: 1, address, named: false, callstack: false }
}

const fn lock() -> Item<'static> {
    Item::LockAnnounce { id: 1, time: 0, location: 0x60, shared: false }
}

const fn wait(thread: u32, time: i64) -> Item<'static> {
    Item::LockWait { thread, id: 1, time, shared: false }
}

const fn obtain(thread: u32, time: i64) -> Item<'static> {
    Item::LockObtain { thread, id: 1, time, shared: false }
}

const fn release(time: i64) -> Item<'static> {
    Item::LockRelease { thread: None, id: 1, time }
}

/// A lock that `thread` may share, and has waited to share.
const fn read(thread: u32) -> [Item<'static>; 3] {
    [
        Item::LockAnnounce { id: 1, time: 0, location: 0x60, shared: true },
        Item::LockWait { thread, id: 1, time: 1, shared: true },
        Item::LockObtain { thread, id: 1, time: 1, shared: true },
    ]
}

const fn frame(time: i64, sort: FrameSort) -> Item<'static> {
    Item::FrameMark { time, name: 0x70, sort }
}

const IMAGE: Item<'static> = Item::FrameImageData { image: &[0; 8] };
const FRAME_IMAGE: Item<'static> = Item::FrameImage { frame: 1, width: 4, height: 4, flip: false };

const fn switch(time: i64, old_thread: u32, new_thread: u32) -> Item<'static> {
    Item::ContextSwitch { time, old_thread, new_thread, cpu: 0, reason: 0, state: 0 }
}

macro_rules! broken {
    ($($name:ident: $items:expr => $rule:expr;)*) => {$(
        #[test]
        fn $name() {
            breaks(&$items, $rule);
        }
    )*};
}

broken! {
    text_that_is_missing: [BEGIN, Item::ZoneText] => Rule::PayloadMissing { payload: Payload::Text };
    text_that_is_not_used: [TEXT, TEXT] => Rule::PayloadUnused { payload: Payload::Text };
    second_text_that_is_not_used: [Item::SecondString(b"a"), Item::SecondString(b"b")]
        => Rule::PayloadUnused { payload: Payload::SecondText };
    location_that_is_missing: [Item::ZoneBegin { time: 1, location: None, callstack: false }]
        => Rule::PayloadMissing { payload: Payload::Location };
    location_that_is_not_used: [LOCATION, LOCATION] => Rule::PayloadUnused { payload: Payload::Location };
    callstack_that_is_missing: [Item::Callstack] => Rule::PayloadMissing { payload: Payload::Callstack };
    callstack_that_is_not_used: [STACK, STACK] => Rule::PayloadUnused { payload: Payload::Callstack };
    callstack_of_a_thread_that_is_missing: [message(0x20, true)]
        => Rule::PayloadMissing { payload: Payload::ThreadCallstack };
    callstack_of_a_thread_that_is_not_used: [STACK, Item::Callstack, STACK, Item::Callstack]
        => Rule::PayloadUnused { payload: Payload::ThreadCallstack };
    serial_callstack_that_is_missing:
        [Item::MemAlloc { time: 1, thread: 1, address: 1, size: 1, named: false, callstack: true }]
        => Rule::PayloadMissing { payload: Payload::SerialCallstack };
    serial_callstack_that_is_not_used: [STACK, Item::CallstackSerial, STACK, Item::CallstackSerial]
        => Rule::PayloadUnused { payload: Payload::SerialCallstack };
    pool_that_is_missing: [alloc(1, 1, true)] => Rule::PayloadMissing { payload: Payload::Pool };
    pool_that_is_not_used: [Item::MemName { pool: 5 }, alloc(1, 1, false)]
        => Rule::PayloadUnused { payload: Payload::Pool };
    image_that_is_not_used: [IMAGE, IMAGE] => Rule::PayloadUnused { payload: Payload::Image };

    zone_end_without_begin: [BEGIN, END, END] => Rule::ZoneEndWithoutBegin;
    zones_in_the_wrong_order: [Item::ZoneValidation { id: 1 }, BEGIN, Item::ZoneValidation { id: 2 }, END]
        => Rule::ZoneOrder { open: 1, ended: 2 };
    text_of_no_zone: [TEXT, Item::ZoneText] => Rule::ZoneDetail { detail: Detail::Text };
    name_of_no_zone: [TEXT, Item::ZoneName] => Rule::ZoneDetail { detail: Detail::Name };
    value_of_no_zone: [Item::ZoneValue { value: 1 }] => Rule::ZoneDetail { detail: Detail::Value };
    colour_of_another_zone:
        [Item::ZoneValidation { id: 1 }, BEGIN, Item::ZoneValidation { id: 2 }, Item::ZoneColor { color: 1 }]
        => Rule::ZoneDetail { detail: Detail::Color };
    zone_that_ends_before_it_begins: [begin(50), END] => Rule::ZoneBackwards { start_ns: 50, end_ns: 20 };
    time_beyond_48_bits: [begin(TOO_LATE)] => Rule::TimeOutOfRange { time_ns: TOO_LATE };
    recursion_too_deep: [BEGIN; 256] => Rule::RecursionTooDeep;
    zone_that_never_ends: [BEGIN, Item::Terminate] => Rule::ZonesNeverEnd { thread: 1, open: 1 };
    zone_that_never_ends_on_a_fiber:
        [Item::FiberEnter { time: 1, fiber: 0x77, thread: 1, group: 0 }, BEGIN, Item::Terminate]
        => Rule::ZonesNeverEnd { thread: 0x77, open: 1 };

    fiber_leave_without_enter: [Item::FiberLeave { time: 1, thread: 1 }]
        => Rule::FiberLeaveWithoutEnter { thread: 1 };
    message_of_unknown_severity: [message(0x60, false)] => Rule::MessageMetadata { metadata: 0x60 };
    plot_value_that_is_no_number: [Item::Plot { name: 1, time: 1, value: PlotValue::Double(f64::NAN) }]
        => Rule::PlotNotFinite;

    gpu_context_twice: [context(), context()] => Rule::GpuContextTwice { context: CONTEXT };
    gpu_context_of_no_type: [gpu_context(CONTEXT, 0, false)] => Rule::GpuContextInvalid { context: CONTEXT };
    gpu_context_that_does_not_exist: [gpu_time(1, 1)] => Rule::GpuContextUnknown { context: CONTEXT };
    gpu_zone_end_without_begin: [context(), gpu_end(1)]
        => Rule::GpuEndWithoutBegin { context: CONTEXT, thread: 1 };
    gpu_time_that_nobody_waits_for: [context(), gpu_time(9, 1)]
        => Rule::GpuTimeUnasked { context: CONTEXT, query: 9 };
    gpu_time_twice: [&[context()][..], &gpu_zone(1, 5, 9), &[gpu_time(2, 9)]].concat()
        => Rule::GpuTimeUnasked { context: CONTEXT, query: 2 };
    gpu_zone_that_is_empty: [&[context()][..], &gpu_zone(1, 5, 5)].concat()
        => Rule::GpuZoneEmpty { context: CONTEXT, start_ns: 5, end_ns: 5 };
    gpu_zone_that_never_ends: [context(), gpu_begin(1), gpu_time(1, 5)]
        => Rule::GpuZonesNeverEnd { context: CONTEXT, open: 1 };
    gpu_time_that_never_comes: [context(), gpu_begin(1), gpu_end(2), gpu_time(1, 5)]
        => Rule::GpuTimesMissing { context: CONTEXT, query: 2 };
    gpu_siblings_out_of_order: [&[context()][..], &gpu_zone(1, 500, 900), &gpu_zone(3, 100, 400)].concat()
        => Rule::GpuUnsorted { context: CONTEXT, start_ns: 100 };
    gpu_calibration_of_an_uncalibrated_context:
        [context(), Item::GpuCalibration { gpu_time: 10, cpu_time: 10, cpu_delta: 10, context: CONTEXT }]
        => Rule::GpuNotCalibrated { context: CONTEXT };
    gpu_calibration_that_stands_still:
        [gpu_context(CONTEXT, 8, true), Item::GpuCalibration { gpu_time: 0, cpu_time: 10, cpu_delta: 10, context: CONTEXT }]
        => Rule::GpuCalibrationStill { context: CONTEXT, advance_ns: 0 };
    gpu_calibration_in_ticks: [
        gpu_context(CONTEXT, 8, true),
        Item::GpuCalibration { gpu_time: 1 << 30, cpu_time: 1 << 30, cpu_delta: 3 << 30, context: CONTEXT },
    ] => Rule::GpuCalibrationDelta { context: CONTEXT, delta: 3 << 30, passed_ns: 1 << 30 };

    free_of_what_is_not_allocated: [free(1)] => Rule::MemoryFreeUnknown { address: 1 };
    allocation_of_what_is_allocated: [alloc(1, 1, false), alloc(2, 1, false)]
        => Rule::MemoryAllocTwice { address: 1 };
    allocation_before_the_last: [alloc(5, 1, false), alloc(4, 2, false)] => Rule::MemoryBackwards;
    discard_of_an_unseen_pool: [Item::MemDiscard { time: 1, thread: 1, pool: 0x80, callstack: false }]
        => Rule::MemoryDiscardUnknown { pool: 0x80 };

    lock_twice: [lock(), lock()] => Rule::LockTwice { id: 1 };
    lock_that_does_not_exist: [wait(1, 1)] => Rule::LockUnknown { id: 1 };
    lock_without_readers: [lock(), Item::LockWait { thread: 1, id: 1, time: 1, shared: true }]
        => Rule::LockNotShared { id: 1 };
    lock_event_before_the_last: [lock(), wait(1, 5), wait(1, 4)] => Rule::LockBackwards { id: 1 };
    lock_of_too_many_threads: {
        let mut items = vec![lock()];
        items.extend((1..=65).map(|thread| wait(thread, 5)));
        items
    } => Rule::LockThreads { id: 1 };
    lock_obtained_without_a_wait: [lock(), wait(2, 1), obtain(1, 2)]
        => Rule::LockWithoutWait { id: 1, thread: 1 };
    lock_obtained_again_after_one_wait: [lock(), wait(1, 1), obtain(1, 2), release(3), obtain(1, 4)]
        => Rule::LockWithoutWait { id: 1, thread: 1 };
    lock_to_share_obtained_without_a_wait: {
        let [lock, _, obtain] = read(1);
        [lock, wait(1, 1), obtain]
    } => Rule::LockWithoutWait { id: 1, thread: 1 };
    lock_obtained_too_often: {
        let mut items = vec![lock()];
        items.extend((0..256).flat_map(|_| [wait(1, 1), obtain(1, 1)]));
        items
    } => Rule::LockObtainedTooOften { id: 1 };
    lock_shared_twice_by_one_thread: {
        let [lock, wait, obtain] = read(1);
        [lock, wait, obtain, wait, obtain]
    } => Rule::LockObtainedTooOften { id: 1 };
    lock_released_twice: [lock(), wait(1, 1), obtain(1, 2), release(3), release(4)]
        => Rule::LockNotHeld { id: 1 };
    lock_released_by_no_reader: {
        let [lock, wait, obtain] = read(1);
        [lock, wait, obtain, Item::LockRelease { thread: Some(2), id: 1, time: 5 }]
    } => Rule::LockNotHeld { id: 1 };
    lock_mark_without_use: [lock(), Item::LockMark { thread: 9, id: 1, location: 0x60 }]
        => Rule::LockMarkWithoutUse { id: 1, thread: 9 };

    frame_set_with_marks_and_starts: [frame(1, FrameSort::Continuous), frame(2, FrameSort::Start)]
        => Rule::FrameSortMixed { name: 0x70 };
    frame_before_the_last: [frame(5, FrameSort::Continuous), frame(4, FrameSort::Continuous)]
        => Rule::FrameBackwards { name: 0x70 };
    refresh_before_the_last: [Item::FrameVsync { time: 5, id: 2 }, Item::FrameVsync { time: 4, id: 2 }]
        => Rule::FrameBackwards { name: 2 };
    frame_start_twice: [frame(1, FrameSort::Start), frame(2, FrameSort::Start)]
        => Rule::FrameStartTwice { name: 0x70 };
    frame_end_without_start: [frame(1, FrameSort::End)] => Rule::FrameEndWithoutStart { name: 0x70 };
    frame_end_twice: [frame(1, FrameSort::Start), frame(2, FrameSort::End), frame(3, FrameSort::End)]
        => Rule::FrameEndTwice { name: 0x70 };
    frame_image_twice: [IMAGE, FRAME_IMAGE, IMAGE, FRAME_IMAGE] => Rule::FrameImageTwice { frame: 1 };
    frame_image_of_another_size: [Item::FrameImageData { image: &[0; 16] }, FRAME_IMAGE]
        => Rule::FrameImageSize { expected: 8, found: 16 };

    section_begins_twice: {
        let enter = Item::SectionEnter { time: 1, id: 4, category: 1 };
        [TEXT, enter, TEXT, enter]
    } => Rule::SectionEnterTwice { id: 4 };
    section_ends_twice: [Item::SectionLeave { time: 1, id: 4 }, Item::SectionLeave { time: 1, id: 4 }]
        => Rule::SectionLeaveTwice { id: 4 };
    hint_for_a_thread_not_seen: [Item::ThreadGroupHint { thread: 8, group: 1 }]
        => Rule::HintOfUnknownThread { thread: 8 };
    processor_described_twice: [Item::CpuTopology { package: 0, die: 0, core: 0, thread: 2 }; 2]
        => Rule::TopologyTwice { thread: 2 };
    load_before_the_last: [Item::SysTime { time: 5, percent: 1.0 }, Item::SysTime { time: 4, percent: 1.0 }]
        => Rule::LoadBackwards;
    switch_from_another_thread: [switch(1, 0, 7), switch(2, 8, 9)]
        => Rule::SwitchFromOther { cpu: 0, running: 7, left: 8 };
    switch_before_the_last: [switch(5, 0, 7), switch(4, 7, 9)] => Rule::SwitchBackwards { cpu: 0 };
    interpreted_callstack_cut_short: [Item::CallstackAllocPayload { frames: &[1, 0, 0, 0, 0, 5, 0] }]
        => Rule::CallstackBroken;
    callstack_address_that_cannot_be: [Item::CallstackPayload { frames: &[0, 0, 0, 0, 0, 0, 0, 0x40] }]
        => Rule::CallstackAddress { address: 0x4000_0000_0000_0000 };
    callstack_frames_not_announced: [TEXT, Item::SecondString(b"file"), Item::CallstackFrame { line: 1, symbol: 0, symbol_size: 0 }]
        => Rule::AnswerFrames;
}

/// These break more than one rule, or need more than items.
#[track_caller]
fn breaks_among_others(items: &[Item<'_>], rule: Rule) {
    let violations = violations_for(&Welcome::default(), items);
    assert!(violations.iter().any(|violation| violation.rule == rule), "{violations:#?}");
}

#[test]
fn a_query_used_while_its_time_is_open() {
    let items = [context(), gpu_begin(1), gpu_end(1)];
    breaks_among_others(&items, Rule::GpuQueryBusy { context: CONTEXT, query: 1 });
}

#[test]
fn times_that_come_in_the_wrong_order_are_swapped() {
    let items = [context(), gpu_begin(1), gpu_end(2), gpu_time(2, 50), gpu_time(1, 90)];
    breaks_among_others(&items, Rule::GpuTimesSwapped { context: CONTEXT, query: 2 });
}

#[test]
fn a_beginning_before_the_program_is_unset() {
    let items = [&[context()][..], &gpu_zone(1, -5, 9)].concat();
    breaks_among_others(&items, Rule::GpuStartNegative { context: CONTEXT, time_ns: -5 });
}

#[test]
fn a_step_back_of_more_than_two_seconds_is_a_phantom_wrap() {
    let items = [&[context()][..], &gpu_zone(1, 5 << 30, 6 << 30), &gpu_zone(3, 100, 200)].concat();
    breaks_among_others(&items, Rule::GpuPhantomWrap { context: CONTEXT });
}

#[test]
fn a_pending_pool_is_no_part_of_a_discard() {
    let discard = Item::MemDiscard { time: 2, thread: 1, pool: 5, callstack: false };
    let items = [Item::MemName { pool: 5 }, alloc(1, 1, true), Item::MemName { pool: 5 }, discard];
    breaks(&items, Rule::PayloadUnused { payload: Payload::Pool });
}

#[test]
fn an_image_that_is_missing() {
    let missing = Rule::PayloadMissing { payload: Payload::Image };
    breaks_among_others(&[FRAME_IMAGE], missing);
}

#[test]
fn a_second_text_that_is_missing() {
    let size = Item::CallstackFrameSize { address: 0x10, frames: 1 };
    let frame = Item::CallstackFrame { line: 1, symbol: 0, symbol_size: 0 };
    breaks(&[TEXT, size, TEXT, frame], Rule::PayloadMissing { payload: Payload::SecondText });
}

#[test]
fn more_locations_than_a_server_can_tell_apart() {
    let zones = |count: usize| -> Vec<Item<'static>> {
        (0..count as u64)
            .flat_map(|pointer| {
                [Item::ZoneBegin { time: 10, location: Some(pointer), callstack: false }, END]
            })
            .collect()
    };
    keeps(&zones(STATIC_LOCATION_LIMIT));
    breaks_among_others(&zones(STATIC_LOCATION_LIMIT + 1), Rule::TooManyLocations { allocated: false });
}

#[test]
fn more_allocated_locations_than_a_server_can_tell_apart() {
    let mut checker = Checker::new(&Welcome::default());
    for line in 0..=ALLOCATED_LOCATION_LIMIT as u32 {
        for _ in 0..2 {
            checker.item(&Item::LocationPayload(Location {
                name: None,
                function: b"f",
                file: b"file",
                line,
                color: 0,
            }));
            checker.item(&Item::ZoneBegin { time: 10, location: None, callstack: false });
            checker.item(&END);
        }
    }
    let rules: Vec<Rule> = checker.finish().into_iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, [Rule::TooManyLocations { allocated: true }], "equal contents count once");
}

#[test]
fn an_answer_that_nobody_asked_for() {
    let mut checker = Checker::new(&Welcome::default());
    checker.asked(Question::String(5));
    let answer = Item::StringData { pointer: 5, text: b"text" };
    checker.item(&answer);
    assert_eq!(checker.violations(), []);
    checker.item(&answer);
    assert_eq!(checker.finish()[0].rule, Rule::AnswerUnasked);
}

#[test]
fn what_an_on_demand_client_may_do() {
    let welcome =
        Welcome { flags: 1, on_demand: Some(OnDemand { frames: 10, current_time: 0 }), ..Welcome::default() };
    let early = Item::FrameImage { frame: 1, width: 4, height: 4, flip: false };
    let items = [free(1), frame(1, FrameSort::End), IMAGE, early, IMAGE, early];
    assert_eq!(violations_for(&welcome, &items), []);
}

#[test]
fn a_server_that_ends_the_capture_itself_waits_for_nothing() {
    let mut checker = Checker::new(&Welcome::default());
    checker.asked(Question::Disconnect);
    [BEGIN, context(), gpu_begin(1), Item::Terminate].iter().for_each(|item| checker.item(item));
    assert_eq!(checker.finish(), []);
}

#[test]
fn what_a_sane_client_does() {
    let nested = [
        context(),
        gpu_begin(1),
        gpu_begin(2),
        gpu_end(3),
        gpu_end(4),
        gpu_time(1, 100),
        gpu_time(2, 200),
        gpu_time(3, 300),
        gpu_time(4, 400),
    ];
    keeps(&nested);
    // Two streams whose times come back interleaved, and queries that are used again.
    let other_stream = Item::GpuZoneBegin {
        cpu_time: 7,
        thread: 2,
        query: 2,
        context: CONTEXT,
        location: Some(0x40),
        callstack: false,
        serial: true,
    };
    let other_end = Item::GpuZoneEnd { cpu_time: 8, thread: 2, query: 4, context: CONTEXT, serial: true };
    let interleaved = [
        context(),
        gpu_begin(1),
        other_stream,
        gpu_end(3),
        other_end,
        gpu_time(2, 500),
        gpu_time(1, 100),
        gpu_time(3, 300),
        gpu_time(4, 600),
    ];
    keeps(&[&interleaved[..], &gpu_zone(1, 700, 800), &gpu_zone(3, 800, 900)].concat());
    let calibration = |gpu_time, cpu_time, cpu_delta| Item::GpuCalibration {
        gpu_time,
        cpu_time,
        cpu_delta,
        context: CONTEXT,
    };
    keeps(&[
        gpu_context(CONTEXT, 8, true),
        calibration(1 << 30, 1 << 30, 1 << 30),
        calibration(2 << 30, 2 << 30, 1 << 30),
    ]);
    keeps(&[
        BEGIN,
        BEGIN,
        TEXT,
        Item::ZoneText,
        STACK,
        Item::Callstack,
        message(0x20, true),
        END,
        END,
        Item::Terminate,
    ]);
    keeps(&[
        lock(),
        wait(1, 1),
        Item::LockObtain { thread: 1, id: 1, time: 2, shared: false },
        Item::LockMark { thread: 1, id: 1, location: 0x60 },
    ]);
    let section =
        [Item::SectionLeave { time: 9, id: 4 }, TEXT, Item::SectionEnter { time: 1, id: 4, category: 1 }];
    keeps(&section);
}

#[test]
fn each_rule_says_what_the_server_does() {
    assert_eq!(Rule::ZoneEndWithoutBegin.effect(), Effect::EndsCapture);
    assert_eq!(Rule::GpuTimeUnasked { context: 1, query: 2 }.effect(), Effect::Asserts);
    assert_eq!(Rule::ZonesNeverEnd { thread: 1, open: 1 }.effect(), Effect::Hangs);
    assert_eq!(Rule::PlotNotFinite.effect(), Effect::Misleads);
}
