//! Streams that IREE wrote: read as its own tool reads them, summed up, and damaged.

use std::path::PathBuf;

use sha2::{Digest, Sha256};
use zonecast_recordings::ErrorKind;
use zonecast_recordings::instruments::{
    AccessMap, Event, Filter, Function, InstrumentRing, Key, Reader, Site, Stream, Value, Workgroup,
    write_iree, write_json, write_svg, write_text,
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/instruments")
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter_map(|name| name.strip_suffix(".bin").map(str::to_owned)).collect();
    assert_eq!(names.len(), 13);
    names
}

fn iree(stream: &Stream<'_>, filter: &Filter) -> Vec<u8> {
    let mut text = Vec::new();
    write_iree(stream, filter, &mut text).unwrap();
    text
}

#[test]
fn every_file_reads_as_by_irees_own_tool() {
    for name in names() {
        let bytes = file(&format!("{name}.bin"));
        let stream = Stream::read(&bytes).unwrap();
        assert_eq!(stream.notes(), [], "{name}");
        let text = iree(&stream, &Filter::default());
        match std::fs::read(folder().join(format!("{name}.txt"))) {
            Ok(expected) => assert!(text == expected, "{name}:\n{}", String::from_utf8_lossy(&text)),
            Err(_) => {
                let hash: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
                let expected = file(&format!("{name}.sha256"));
                assert_eq!(hash, String::from_utf8_lossy(&expected).trim(), "{name}");
            }
        }
    }
}

fn map(bytes: &[u8], filter: &Filter) -> AccessMap {
    AccessMap::of(&Stream::read(bytes).unwrap().modules()[0], filter)
}

fn sums(site: &Site, map: &AccessMap) -> Vec<(u64, u64, u64)> {
    let size = |buffer: usize| map.buffers()[buffer].end - map.buffers()[buffer].begin;
    site.uses.iter().map(|used| (size(used.buffer), used.read.bytes, used.written.bytes)).collect()
}

/// Three buffers of 16,384 floats: two are read once, one is written once, 16 bytes at a time.
#[test]
fn the_buffers_of_a_multiplication_are_found() {
    let map = map(&file("v20230228_mul16k.bin"), &Filter::default());
    let [site] = map.sites() else { panic!("one site") };
    let mut buffers = sums(site, &map);
    buffers.sort_unstable();
    assert_eq!(buffers, [(65536, 0, 65536), (65536, 65536, 0), (65536, 65536, 0)]);
    for used in &site.uses {
        assert_eq!(used.distinct, 65536);
        assert!((used.reuse() - 1.0).abs() < 1e-9);
        assert_eq!(used.overlap, None);
        let accesses = if used.read.count > 0 { &used.read } else { &used.written };
        assert_eq!((accesses.count, accesses.stride().unwrap().0), (4096, 16));
    }
    assert_eq!(site.processors.values().sum::<u64>(), site.workgroups);
}

#[test]
fn a_filter_keeps_one_workgroup() {
    let bytes = file("v20230228_mul16k.bin");
    let stream = Stream::read(&bytes).unwrap();
    let whole = map(&bytes, &Filter::default());
    let grid = whole.sites()[0].grid;
    assert_eq!(whole.sites()[0].workgroups, u64::from(grid[0]));
    let one = Filter { site: Some(0), workgroup: Some([1, 0, 0]) };
    let part = map(&bytes, &one);
    assert_eq!(part.sites()[0].workgroups, 1);
    assert_eq!(part.records() * u64::from(grid[0]), whole.records());
    let text = String::from_utf8(iree(&stream, &one)).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("WORKGROUP")).count(), 1);
    assert_eq!(
        text.lines().filter(|line| line.contains("LOAD ")).count() as u64,
        (part.records() - 1) * 2 / 3
    );
    assert!(map(&bytes, &Filter { site: Some(7), workgroup: None }).sites().is_empty());
}

#[test]
fn what_a_wrapped_ring_lost_is_said() {
    let bytes = file("v313_twice_wrap128.bin");
    let map = map(&bytes, &Filter::default());
    assert_eq!((map.lost_bytes(), map.torn_bytes(), map.orphans(), map.records()), (1120, 0, 8, 8));
    let mut text = Vec::new();
    write_text(&Stream::read(&bytes).unwrap(), &Filter::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("1120 bytes of older records were overwritten"), "{text}");
    assert!(text.contains("8 records are left out"), "{text}");
}

#[test]
fn probes_make_a_table() {
    let bytes = file("v313_mul4_value.bin");
    let map = map(&bytes, &Filter::default());
    let probes: Vec<String> = map.sites()[0]
        .probes
        .iter()
        .map(|probe| format!("{} {}", probe.ends[0].type_name(), probe.ends[0]))
        .collect();
    assert_eq!(probes, ["i8 -5", "i16 -1234", "i32 2147483647", "f32 1.234", "f16 1.5", "i16 -16320"]);
}

#[test]
fn every_view_of_every_file_can_be_had() {
    for name in names() {
        let bytes = file(&format!("{name}.bin"));
        let stream = Stream::read(&bytes).unwrap();
        let (mut text, mut json, mut svg) = (Vec::new(), Vec::new(), Vec::new());
        write_text(&stream, &Filter::default(), &mut text).unwrap();
        write_json(&stream, &Filter::default(), &mut json).unwrap();
        write_svg(&stream, &Filter::default(), &mut svg).unwrap();
        let objects: Vec<serde_json::Value> = json
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let records: usize = stream.modules().iter().map(|module| module.records().count()).sum();
        assert_eq!(objects.iter().filter(|object| object["type"] == "record").count(), records, "{name}");
        let sites = objects.iter().filter(|object| object["type"] == "site").count();
        let titles =
            String::from_utf8(text).unwrap().lines().filter(|line| line.starts_with("site ")).count();
        assert_eq!(titles, sites, "{name}");
        let picture = String::from_utf8(svg).unwrap();
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{name}");
    }
}

#[test]
fn damage_anywhere_is_said_or_harmless() {
    for name in ["v313_loop.bin", "v313_two_modules.bin", "v313_twice_wrap128.bin"] {
        let whole = file(name);
        for end in (0..whole.len()).step_by(61) {
            look_at_all(&whole[..end]);
        }
        let mut damaged = whole.clone();
        for at in 0..whole.len().min(6000) {
            damaged[at] = [0, 0x7f, 0xff, whole[at] ^ 4][at % 4];
            look_at_all(&damaged);
            damaged[at] = whole[at];
        }
    }
    let error = Stream::read(b"ELF").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unknown(_)), "{error}");
    assert!(Stream::read(b"").unwrap().modules().is_empty());
}

fn look_at_all(bytes: &[u8]) {
    let Ok(stream) = Stream::read(bytes) else { return };
    for module in stream.modules() {
        AccessMap::of(module, &Filter::default());
    }
    write_iree(&stream, &Filter::default(), &mut std::io::sink()).unwrap();
}

#[test]
fn a_cut_file_gives_what_is_whole_and_says_where_it_ends() {
    let whole = file("v313_two_modules.bin");
    let stream = Stream::read(&whole[..whole.len() - 100]).unwrap();
    assert_eq!(stream.modules().len(), 2);
    assert_eq!(
        stream.modules()[0].records().count(),
        Stream::read(&whole).unwrap().modules()[0].records().count()
    );
    let [note] = stream.notes() else { panic!("one note") };
    assert!(note.to_string().contains("all of a chunk's content"), "{note}");
    assert!(note.offset > 0);
}

#[test]
fn unknown_chunks_go_to_their_decoder_or_are_said() {
    let mut bytes = file("v313_mul4.bin");
    let offset = bytes.len() as u64;
    bytes.extend_from_slice(b"0IDB\x09\0\x02\0\x03\0\0\0\0\0\0\0abc\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let stream = Stream::read(&bytes).unwrap();
    assert_eq!(stream.modules().len(), 1);
    assert_eq!(stream.notes()[0].offset, offset);
    assert_eq!(stream.notes()[0].what, "a chunk of the unknown type 9 is skipped (3 bytes)");
    let mut reader = Reader::default();
    reader.decode(9, |chunk| Err(format!("version {}: {:?}", chunk.version, chunk.content)));
    assert_eq!(reader.read(&bytes).unwrap().notes()[0].what, "version 2: [97, 98, 99]");
}

fn workgroup(id: u32, count: u32, processor: u32) -> Workgroup {
    Workgroup { site: 0, id: [id, 0, 0], count: [count, 1, 1], processor }
}

fn saved(ring: &InstrumentRing) -> Vec<u8> {
    let function = Function { name: b"kernel", target: None, layout: None, source: Some(b"func @kernel") };
    let mut bytes = Vec::new();
    ring.save(&[function], &[0, 0], &mut bytes).unwrap();
    bytes
}

#[test]
fn what_many_threads_write_is_read_back() {
    let ring = InstrumentRing::new(1 << 20);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let ring = &ring;
            scope.spawn(move || {
                for round in 0..100 {
                    let key = ring.workgroup(workgroup(thread, 4, round));
                    for step in 0..10 {
                        ring.load(key, 0x10000 + u64::from(thread) * 0x1000 + step * 64, 64);
                    }
                    ring.value(key, 3, Value::I8(-(thread as i8)));
                    ring.print(key, "twenty-three characters");
                    ring.store(key, 0x90000 + u64::from(thread) * 32, 32);
                }
            });
        }
    });
    let bytes = saved(&ring);
    let stream = Stream::read(&bytes).unwrap();
    assert!(stream.notes().is_empty());
    let module = &stream.modules()[0];
    assert_eq!(module.metadata().site_name(1), b"kernel");
    let texts = module.records().filter(
        |record| matches!(record.event, Event::Print(print) if print.text == b"twenty-three characters"),
    );
    assert_eq!(texts.count(), 400);
    let map = AccessMap::of(module, &Filter::default());
    assert_eq!((map.records(), map.torn_bytes(), map.orphans()), (400 * 14, 0, 0));
    let read: u64 = map.sites()[0].uses.iter().map(|used| used.read.bytes).sum();
    assert_eq!(read, 400 * 640);
    assert_eq!(map.sites()[0].probes[0].range, Some([-3.0, 0.0]));
}

/// At every position of the wrap, also where the oldest bytes are half a record: what survives is read in order.
#[test]
fn a_wrapped_ring_is_read_from_its_oldest_record() {
    for count in 1..400_u32 {
        let ring = InstrumentRing::new(512);
        let mut written = Vec::new();
        let mut key = None;
        for step in 0..count {
            let record = if step % 5 == 0 {
                // A grid whose second half looks like a load.
                let workgroup = Workgroup { site: 1, id: [step, 0, 0], count: [0x1004, 2, 3], processor: 7 };
                key = Some(ring.workgroup(workgroup));
                (32, None)
            } else {
                ring.load(key.unwrap(), u64::from(step), 4);
                (16, Some(u64::from(step)))
            };
            written.push(record);
        }
        let bytes = saved(&ring);
        let stream = Stream::read(&bytes).unwrap();
        let read: Vec<Option<u64>> = stream.modules()[0]
            .records()
            .filter_map(|record| match record.event {
                Event::Load(access) => Some(Some(access.address)),
                Event::Workgroup(_) => Some(None),
                Event::Torn { length } => {
                    assert_eq!(length, 16, "half a record");
                    None
                }
                _ => panic!("nothing else was written"),
            })
            .collect();
        let total: u64 = written.iter().map(|record| record.0).sum();
        assert_eq!(ring.lost(), total.saturating_sub(512));
        let mut left = total.min(512);
        let survivors = written.iter().rev().take_while(|record| {
            let fits = left >= record.0;
            left -= record.0.min(left);
            fits
        });
        let mut expected: Vec<Option<u64>> = survivors.map(|record| record.1).collect();
        expected.reverse();
        assert_eq!(read, expected, "{count} records");
    }
}

/// A record whose workgroup's place was taken by a later workgroup is not taken for that one's.
#[test]
fn a_stale_key_is_nobodys() {
    let ring = InstrumentRing::new(128);
    let first = ring.workgroup(workgroup(0, 2, 0));
    (0..6).for_each(|_| ring.load(first, 0x1000, 4));
    ring.load(first, 0x2000, 4);
    // Overwrites the first workgroup's record, 16 bytes late.
    let second = ring.workgroup(workgroup(1, 2, 0));
    ring.store(second, 0x3000, 4);
    let bytes = saved(&ring);
    let map = map(&bytes, &Filter::default());
    assert_eq!((map.orphans(), map.lost_bytes()), (5, 64));
    assert_eq!(map.sites()[0].workgroups, 1);
}

#[test]
fn what_is_reserved_but_not_written_is_torn() {
    let ring = InstrumentRing::new(256);
    let key: Key = ring.workgroup(workgroup(0, 1, 0));
    ring.load(key, 0x1000, 4);
    let mut bytes = saved(&ring);
    let end = bytes.len();
    // Another thread has taken 48 bytes, and was stopped.
    bytes[end - 8] = 96;
    let map = map(&bytes, &Filter::default());
    assert_eq!((map.torn_bytes(), map.records()), (48, 2));
}

#[test]
fn a_damaged_head_is_said_and_the_records_are_read() {
    let ring = InstrumentRing::new(256);
    let key = ring.workgroup(workgroup(0, 1, 0));
    ring.load(key, 0x1000, 4);
    let mut bytes = saved(&ring);
    let end = bytes.len();
    bytes[end - 8..].fill(0xdb);
    let stream = Stream::read(&bytes).unwrap();
    assert!(stream.notes()[0].what.contains("0xdbdbdbdbdbdbdbdb, is damaged"), "{:?}", stream.notes());
    assert_eq!(AccessMap::of(&stream.modules()[0], &Filter::default()).records(), 2);
}

#[test]
fn workgroups_that_write_the_same_bytes_are_found() {
    let ring = InstrumentRing::new(1 << 12);
    for execution in 0..2_u32 {
        for id in 0..4 {
            let key = ring.workgroup(workgroup(id, 4, 0));
            ring.store(key, 0x1000 + u64::from(id) * 16, if id == 2 { 20 } else { 16 });
            ring.store(key, 0x8000 + u64::from(execution) * 64 + u64::from(id) * 16, 16);
        }
    }
    let bytes = saved(&ring);
    let map = map(&bytes, &Filter::default());
    let [first, second] = &map.sites()[0].uses[..] else { panic!("two buffers") };
    let overlap = first.overlap.unwrap();
    assert_eq!((overlap.address, overlap.workgroups, overlap.bytes), (0x1030, [[2, 0, 0], [3, 0, 0]], 8));
    assert_eq!(second.overlap, None, "an execution may write over another's results");
}
