//! The shape that IREE's own `iree-dump-instruments` prints.
//!
//! Byte for byte, with its oddities: unsigned values of 8 and 16 bits, and 16-bit floats, are printed
//! sign-extended. Only a ring that has wrapped is printed otherwise: oldest records first, and what is lost in
//! a line of its own, where that tool begins in the middle.

use std::io::{self, Write};

use super::map::Filter;
use super::metadata::Metadata;
use super::record::{Event, Record, Value};
use super::ring::Ring;
use super::stream::Stream;

/// Writes a stream in that shape.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_iree(stream: &Stream<'_>, filter: &Filter, out: &mut impl Write) -> io::Result<()> {
    for module in stream.modules() {
        write_metadata(module.metadata(), out)?;
        for ring in module.rings() {
            write_ring(ring, module.metadata(), filter, out)?;
        }
    }
    Ok(())
}

fn bar(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "//==={:-<70}===//", "")
}

fn write_metadata(metadata: &Metadata<'_>, out: &mut impl Write) -> io::Result<()> {
    for (index, function) in metadata.functions().iter().enumerate() {
        writeln!(out)?;
        bar(out)?;
        line(out, format_args!("// export[{index}]: "), function.name)?;
        bar(out)?;
        for (what, text) in [("//  target: ", function.target), ("//  layout: ", function.layout)] {
            text.map_or(Ok(()), |text| line(out, format_args!("{what}"), text))?;
        }
        function.source.map_or(Ok(()), |source| line(out, format_args!(""), source))?;
        writeln!(out)?;
    }
    bar(out)?;
    for site in 0..metadata.site_count() {
        line(out, format_args!("// dispatch site {site}: "), metadata.site_name(site as u32))?;
    }
    bar(out)?;
    writeln!(out)
}

/// A line that ends in bytes as they are.
fn line(out: &mut impl Write, begin: std::fmt::Arguments<'_>, text: &[u8]) -> io::Result<()> {
    out.write_fmt(begin)?;
    out.write_all(text)?;
    out.write_all(b"\n")
}

fn write_ring(
    ring: &Ring<'_>,
    metadata: &Metadata<'_>,
    filter: &Filter,
    out: &mut impl Write,
) -> io::Result<()> {
    if ring.lost() > 0 {
        writeln!(out, "... {} bytes of older records overwritten ...", ring.lost())?;
    }
    let kept = ring.records().filter(|record| filter.keeps(ring, record));
    kept.into_iter().try_for_each(|record| write_record(ring, metadata, &record, out))
}

fn write_record(
    ring: &Ring<'_>,
    metadata: &Metadata<'_>,
    record: &Record<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    match record.event {
        Event::Workgroup(workgroup) => {
            let [[ix, iy, iz], [cx, cy, cz]] = [workgroup.id, workgroup.count];
            let place = record.at % ring.size();
            write!(out, "{place:016X} | WORKGROUP dispatch({} ", workgroup.site)?;
            out.write_all(metadata.site_name(workgroup.site))?;
            writeln!(out, " {cx}x{cy}x{cz}) {ix},{iy},{iz} pid:{}", workgroup.processor)
        }
        Event::Print(print) => line(out, format_args!("{:016X} | PRINT ", print.key), print.text),
        Event::Value(probe) => {
            writeln!(out, "{:016X} | VALUE {:04} = {}", probe.key, probe.ordinal, value(probe.value))
        }
        Event::Load(access) => {
            writeln!(out, "{:016X} | LOAD  {:016X} {}", access.key, access.address, access.length)
        }
        Event::Store(access) => {
            writeln!(out, "{:016X} | STORE {:016X} {}", access.key, access.address, access.length)
        }
        Event::Torn { length } => writeln!(out, "... {length} bytes that are no record ..."),
    }
}

/// As C's `printf` gives it.
fn value(value: Value) -> String {
    let extended = |bits: u16| i32::from(bits.cast_signed());
    match value {
        Value::U8(value) => i32::from(value.cast_signed()).cast_unsigned().to_string(),
        Value::U16(value) => extended(value).cast_unsigned().to_string(),
        Value::Pointer(value) => format!("{value:16X}"),
        Value::F16(bits) | Value::Bf16(bits) => format!("{:4X}", extended(bits)),
        Value::F32(value) => float(value.into()),
        Value::F64(value) => float(value),
        Value::Unknown(kind, _) => format!("<<unknown type: {kind:02X}>>"),
        other => other.to_string(),
    }
}

/// `%e %f`.
fn float(value: f64) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let word = if value.is_nan() { "nan" } else { "inf" };
        return format!("{sign}{word} {sign}{word}");
    }
    let short = format!("{value:.6e}");
    let (mantissa, exponent) = short.split_once('e').unwrap_or((&short, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2} {value:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What glibc prints for the same calls.
    #[test]
    fn values_look_as_in_c() {
        assert_eq!(value(Value::U8(255)), "4294967295");
        assert_eq!(value(Value::U16(65535)), "4294967295");
        assert_eq!(value(Value::Bf16(0xc040)), "FFFFC040");
        assert_eq!(value(Value::F16(0x3c)), "  3C");
        assert_eq!(value(Value::Pointer(0xbeef)), "            BEEF");
        assert_eq!(value(Value::F32(1.234)), "1.234000e+00 1.234000");
        assert_eq!(value(Value::F64(-1.5e-300)), "-1.500000e-300 -0.000000");
        assert_eq!(value(Value::F32(-f32::INFINITY)), "-inf -inf");
        assert_eq!(value(Value::Unknown(0x1f, 0)), "<<unknown type: 1F>>");
    }
}
