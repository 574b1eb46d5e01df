//! Fields as text: `message name=value name=value`.

use std::fmt::{self, Debug, Write};

use tracing_core::field::{Field, Visit};
use tracing_core::{Event, span};

/// The text of a span.
#[derive(Debug, Default)]
pub(crate) struct SpanText(pub(crate) String);

impl SpanText {
    pub(crate) fn of(attributes: &span::Attributes<'_>) -> Self {
        let mut text = String::new();
        attributes.record(&mut Fields::to(&mut text));
        Self(text)
    }

    /// What is recorded late.
    pub(crate) fn late(record: &span::Record<'_>) -> Self {
        let mut text = String::new();
        record.record(&mut Fields::to(&mut text));
        Self(text)
    }

    pub(crate) fn append(&mut self, late: &Self) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(&late.0);
    }
}

/// The text of an event, made when it is displayed.
pub(crate) struct EventText<'a>(pub(crate) &'a Event<'a>);

impl fmt::Display for EventText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = Fields::to(f);
        self.0.record(&mut fields);
        fields.outcome
    }
}

/// What an event that came from the `log` crate says about itself beside its message.
const OF_LOG: &str = "log.";

struct Fields<'a, W> {
    to: &'a mut W,
    first: bool,
    outcome: fmt::Result,
}

impl<'a, W: Write> Fields<'a, W> {
    fn to(to: &'a mut W) -> Self {
        Self { to, first: true, outcome: Ok(()) }
    }

    fn field(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let name = field.name();
        if self.outcome.is_err() || name.starts_with(OF_LOG) {
            return;
        }
        let space = if std::mem::replace(&mut self.first, false) { "" } else { " " };
        self.outcome = match name {
            "message" => self.to.write_fmt(format_args!("{space}{value}")),
            name => self.to.write_fmt(format_args!("{space}{}={value}", name.trim_start_matches("r#"))),
        };
    }
}

impl<W: Write> Visit for Fields<'_, W> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.field(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.field(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.field(field, format_args!("{value}"));
    }
}
