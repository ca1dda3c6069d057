//! Points in time, as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time now, in milliseconds since 1970 (UTC).
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// `2026-03-01T09:30:00.25Z`.
pub fn exact(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds).map(|time| time.to_string()).unwrap_or_default()
}

/// `just now`, `5 min ago`, `in 3 h`, `12 days ago`.
pub fn relative(milliseconds: i64, now: i64) -> String {
    let seconds = (milliseconds.saturating_sub(now)) as f64 / 1000.0;
    let size = seconds.abs();
    let text = match size {
        s if s < 45.0 && seconds <= 0.0 => return "just now".into(),
        s if s < 45.0 => return "in a moment".into(),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 1.5 * 86_400.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    };
    if seconds < 0.0 { format!("{text} ago") } else { format!("in {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well() {
        let now = 1_900_000_000_000;
        let said = |seconds: i64| relative(now + 1000 * seconds, now);
        assert_eq!(
            [-10, -300, -7200, -86_400 * 3, 7200].map(said),
            ["just now", "5 min ago", "2 h ago", "3 days ago", "in 2 h"]
        );
        assert_eq!(exact(0), "1970-01-01T00:00:00Z");
        assert_eq!(exact(1_767_261_600_250), "2026-01-01T10:00:00.25Z");
    }
}
