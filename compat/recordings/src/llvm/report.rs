//! The text file that the newest recorder writes at the end, when it is asked to.

const TITLE: &str = "=== Kernel Record Report ===";
const END: &str = "=== End Kernel Record Report ===";

/// How often each instance ran, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The folder that was recorded to, as the recording program named it.
    pub directory: String,
    /// A line for each instance, in order of recording.
    pub lines: Vec<ReportLine>,
    /// The line that says that the report is whole is there, and as many instances as it counted.
    pub complete: bool,
}

/// One instance: a kernel with one launch shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportLine {
    /// The name of its JSON file. It is only compared with, never opened.
    pub file: String,
    /// The kernel.
    pub kernel: String,
    /// How long the recorded launch took, in nanoseconds.
    pub time: u64,
    /// How often the kernel was launched like this. Only the first launch is recorded.
    pub occurrences: u64,
}

impl Report {
    /// Reads a report; `None` if it does not begin like one. Lines that are not understood are left out, and
    /// the report is then not [complete](Report::complete).
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()?.trim_end() != TITLE {
            return None;
        }
        let (mut report, mut total) = (Self::default(), None);
        for line in lines.map(str::trim_end) {
            if line == END {
                report.complete = total == Some(report.lines.len());
                break;
            } else if let Some(directory) = line.strip_prefix("Directory:") {
                report.directory = directory.trim().to_owned();
            } else if let Some(count) = line.strip_prefix("Total Instances:") {
                total = count.trim().parse().ok();
            } else if let Some(line) = ReportLine::parse(line) {
                report.lines.push(line);
            }
        }
        Some(report)
    }

    /// What it says of the recording whose JSON file has this name.
    pub fn line(&self, json_name: &str) -> Option<&ReportLine> {
        self.lines.iter().find(|line| line.file == json_name)
    }
}

impl ReportLine {
    /// `json name, kernel, time, occurrences`; a kernel's name may hold commas.
    fn parse(line: &str) -> Option<Self> {
        let (file, rest) = line.split_once(", ")?;
        let (rest, occurrences) = rest.rsplit_once(", ")?;
        let (kernel, time) = rest.rsplit_once(", ")?;
        Some(Self {
            file: file.to_owned(),
            kernel: kernel.to_owned(),
            time: time.parse().ok()?,
            occurrences: occurrences.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "=== Kernel Record Report ===\nDirectory: /d\nTotal Instances: 2\n\
        JSON Filename, Kernel Name, Time (ns), Occurrences:\n1_2.json, f(int, int), 12345, 3\n\
        3_4.json, g, 7, 1\n=== End Kernel Record Report ===\n";

    #[test]
    fn instances_are_read() {
        let report = Report::parse(REPORT).unwrap();
        assert!(report.complete);
        assert_eq!((report.directory.as_str(), report.lines.len()), ("/d", 2));
        let first = report.line("1_2.json").unwrap();
        assert_eq!((first.kernel.as_str(), first.time, first.occurrences), ("f(int, int)", 12345, 3));
        assert_eq!(report.line("2_1.json"), None);
    }

    #[test]
    fn a_report_that_is_cut_or_strange_is_not_complete() {
        assert_eq!(Report::parse("Kernel Record Report"), None);
        assert_eq!(Report::parse(""), None);
        for cut in 0..REPORT.len() - END.len() {
            let report = Report::parse(&REPORT[..cut]);
            assert!(report.is_none_or(|report| !report.complete), "cut at {cut}");
        }
        let strange = Report::parse(&REPORT.replace(", 7,", ", seven,")).unwrap();
        assert_eq!((strange.lines.len(), strange.complete), (1, false));
    }
}
