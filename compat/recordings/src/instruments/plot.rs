//! The access map as a picture.
//!
//! For each dispatch site a row of panels, one for each buffer that it used: across the buffer's bytes, down the
//! workgroups of the grid. Blue was read, orange written, violet both; the more, the darker.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::buffers::{Raster, Site, Use};
use super::map::{AccessMap, Filter};
use super::stream::{Module, Stream};

const PANEL: [usize; 2] = [2 * Raster::COLUMNS, 4 * Raster::ROWS];
const GAP: usize = 24;
const MARGIN: usize = 24;
/// So many panels beside one another.
const ACROSS: usize = 4;
const TITLE: usize = 34;
const LABEL: usize = 44;
const BELOW: usize = 34;

/// Writes what `filter` keeps of a stream as an SVG picture.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_svg(stream: &Stream<'_>, filter: &Filter, out: &mut impl Write) -> io::Result<()> {
    let mut picture = Picture { body: String::new(), y: MARGIN };
    picture.legend();
    for module in stream.modules() {
        let map = AccessMap::of(module, filter);
        map.sites().iter().for_each(|site| picture.site(module, &map, site));
    }
    if stream.modules().is_empty() {
        picture.text(MARGIN, 14, "no module was instrumented");
    }
    let (width, height) = (2 * MARGIN + ACROSS * (PANEL[0] + GAP) - GAP, picture.y + MARGIN);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
    )?;
    out.write_all(picture.body.as_bytes())?;
    writeln!(out, "</svg>")
}

struct Picture {
    body: String,
    /// Where the next row begins.
    y: usize,
}

impl Picture {
    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{element}");
    }

    fn text(&mut self, x: usize, size: usize, text: &str) {
        let (y, text) = (self.y, escaped(text));
        self.push(format_args!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\">{text}</text>"));
    }

    fn legend(&mut self) {
        let kinds = [([1, 0], "read"), ([0, 1], "written"), ([1, 1], "both")];
        self.y += 12;
        self.text(
            MARGIN,
            11,
            "across: bytes of the buffer; down: workgroups of the grid; darker: more bytes",
        );
        for (index, (bytes, name)) in kinds.into_iter().enumerate() {
            let (x, y, fill) = (MARGIN + 480 + 80 * index, self.y - 9, colour(bytes));
            self.push(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{fill}\"/>"));
            self.text(x + 14, 11, name);
        }
        self.y += 12;
    }

    fn site(&mut self, module: &Module<'_>, map: &AccessMap, site: &Site) {
        let name = String::from_utf8_lossy(module.metadata().site_name(site.index));
        let [x, y, z] = site.grid;
        self.y += TITLE;
        let title = format!("site {}: {name}, {} workgroups of {x}x{y}x{z}", site.index, site.workgroups);
        self.text(MARGIN, 14, &title);
        let drawn: Vec<(&Use, &Raster)> =
            site.uses.iter().filter_map(|used| Some((used, used.raster.as_deref()?))).collect();
        for row in drawn.chunks(ACROSS) {
            self.y += LABEL;
            for (column, (used, raster)) in row.iter().enumerate() {
                self.panel(MARGIN + column * (PANEL[0] + GAP), map, used, raster);
            }
            self.y += PANEL[1] + BELOW;
        }
        if drawn.len() < site.uses.len() {
            self.text(
                MARGIN,
                11,
                &format!("{} further buffers are not drawn", site.uses.len() - drawn.len()),
            );
        } else if drawn.is_empty() {
            self.y += TITLE / 2;
            self.text(MARGIN, 11, "no access was recorded");
        }
    }

    /// One buffer's panel, with its upper left corner at `x` and the current row.
    fn panel(&mut self, x: usize, map: &AccessMap, used: &Use, raster: &Raster) {
        let buffer = map.buffers()[used.buffer];
        let (top, [width, height]) = (self.y, PANEL);
        let mut above = |line: usize, text: &str| {
            self.y = top - 20 + 14 * line;
            self.text(x, 11, text);
        };
        above(
            0,
            &format!("buffer {}: {} bytes at {:#x}", used.buffer, buffer.end - buffer.begin, buffer.begin),
        );
        above(
            1,
            &format!(
                "{} read, {} written, used {:.1} times",
                used.read.bytes,
                used.written.bytes,
                used.reuse()
            ),
        );
        self.y = top;
        self.push(format_args!(
            "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"#f4f4f4\" stroke=\"#bbb\"/>"
        ));
        self.cells(x, top, raster);
        let end = buffer.end - buffer.begin;
        self.y = top + height + 13;
        self.text(x, 10, "0");
        let label = end.to_string();
        self.text(x + width - 6 * label.len().min(20), 10, &label);
        if let Some(overlap) = used.overlap {
            self.y += 12;
            let y = self.y;
            self.push(format_args!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"11\" fill=\"#c00\">{} bytes were written by several \
                 workgroups</text>",
                overlap.bytes
            ));
        }
        self.y = top;
    }

    fn cells(&mut self, x: usize, y: usize, raster: &Raster) {
        let [columns, rows] = raster.size();
        let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let sum = |(row, column): (usize, usize)| raster.cell(column, row).iter().sum::<u64>();
        let most = all.clone().map(sum).max().unwrap_or(0);
        let (width, height) = (PANEL[0] as f64 / columns as f64, PANEL[1] as f64 / rows as f64);
        for (row, column) in all.filter(|&cell| sum(cell) > 0) {
            let (x, y) = (x as f64 + column as f64 * width, y as f64 + row as f64 * height);
            let fill = colour(raster.cell(column, row));
            let opacity = 0.35 + 0.65 * (sum((row, column)) as f64 / most as f64).sqrt();
            self.push(format_args!(
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\" \
                 fill-opacity=\"{opacity:.2}\"/>"
            ));
        }
    }
}

fn colour([read, written]: [u64; 2]) -> &'static str {
    match (read > 0, written > 0) {
        (true, true) => "#7b3fa0",
        (false, true) => "#d9770f",
        _ => "#2a6fbb",
    }
}

/// Text that XML may hold.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            character if character.is_control() => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}
