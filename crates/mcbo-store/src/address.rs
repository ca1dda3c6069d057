//! Where a store lives.

use std::ops::Range;
use std::path::PathBuf;

use crate::StoreError;

/// The two databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

/// What may be done to an SQLite file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    /// Write, and make it if there is none.
    Make,
}

/// A checked address.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub backend: Backend,
    /// What the driver of a server is given.
    pub url: String,
    /// What users are shown: no password.
    pub shown: String,
    /// The file, if it is one.
    pub path: PathBuf,
    pub mode: Mode,
}

impl Address {
    /// Reads `sqlite:///path`, `sqlite://relative/path` or `postgresql://…`.
    pub fn parse(url: &str) -> Result<Self, StoreError> {
        let shown = without_password(url);
        let bad = |reason: &str| StoreError::BadUrl { url: shown.clone(), reason: reason.to_owned() };
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(bad("it does not start with sqlite:// or postgresql://"));
        };
        match scheme {
            "sqlite" => {
                let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
                if path.is_empty() || path.ends_with('/') {
                    return Err(bad("it names no file"));
                }
                let mut mode = Mode::Make;
                for setting in query.split('&').filter(|setting| !setting.is_empty()) {
                    mode = match setting {
                        "mode=ro" => Mode::Read,
                        "mode=rw" => Mode::Write,
                        "mode=rwc" => Mode::Make,
                        "mode=memory" => return Err(bad("a study in memory would not last")),
                        other => {
                            return Err(bad(&format!(
                                "{other:?} means nothing here; there are mode=ro, rw and rwc"
                            )));
                        }
                    };
                }
                let path = percent_encoding::percent_decode_str(path);
                let path = path.decode_utf8().map_err(|_| bad("its path is no text"))?;
                if path == ":memory:" {
                    return Err(bad("a study in memory would not last"));
                }
                if path.chars().any(char::is_control) {
                    return Err(bad("its path has control characters"));
                }
                let path = PathBuf::from(path.as_ref());
                Ok(Self { backend: Backend::Sqlite, url: url.to_owned(), shown, path, mode })
            }
            "postgresql" | "postgres" if rest.is_empty() => Err(bad("it names no server")),
            "postgresql" | "postgres" => Ok(Self {
                backend: Backend::Postgres,
                url: url.to_owned(),
                shown,
                path: PathBuf::new(),
                mode: Mode::Make,
            }),
            other => Err(bad(&format!("{other:?} is not a database this program knows"))),
        }
    }

    /// A text of others with `***` for passwords of this address.
    pub fn without_secrets(&self, text: &str) -> String {
        let written = secrets(&self.url).into_iter().map(|secret| self.url[secret].to_owned());
        let mut text = text.to_owned();
        for secret in written.filter(|secret| !secret.is_empty()) {
            let plain = percent_encoding::percent_decode_str(&secret).decode_utf8_lossy().into_owned();
            text = text.replace(&secret, "***").replace(&plain, "***");
        }
        text
    }
}

/// An address as users may be shown it: with `***` for passwords.
///
/// ```
/// let shown = mcbo_store::without_password("postgresql://lab:secret@server/mcbo");
/// assert_eq!(shown, "postgresql://lab:***@server/mcbo");
/// ```
pub fn without_password(url: &str) -> String {
    let mut shown = url.to_owned();
    for secret in secrets(url).into_iter().rev() {
        shown.replace_range(secret, "***");
    }
    shown
}

/// Where an address has passwords, in order. Where it is not clear how far one goes, it goes far.
fn secrets(url: &str) -> Vec<Range<usize>> {
    let Some(start) = url.find("://").map(|at| at + 3) else { return Vec::new() };
    let mut found = Vec::new();
    let host = match url[start..].rfind('@') {
        // A user's name ends at the first colon; a password may have any character, though some should be escaped.
        Some(at) => {
            if let Some(colon) = url[start..start + at].find(':') {
                found.push(start + colon + 1..start + at);
            }
            start + at
        }
        None => start,
    };
    let Some(query) = url[host..].find('?').map(|at| host + at + 1) else { return found };
    let mut at = query;
    for setting in url[query..].split('&') {
        if let Some((name, _)) = setting.split_once('=')
            && name.to_ascii_lowercase().contains("password")
        {
            found.push(at + name.len() + 1..at + setting.len());
        }
        at += setting.len() + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_addresses_are_read() {
        let file = Address::parse("sqlite:///a/b.sqlite").unwrap();
        assert_eq!((file.backend, file.mode), (Backend::Sqlite, Mode::Make));
        assert_eq!(file.path, PathBuf::from("/a/b.sqlite"));
        let file = Address::parse("sqlite://a%20b%3F.sqlite?mode=ro").unwrap();
        assert_eq!((file.path, file.mode), (PathBuf::from("a b?.sqlite"), Mode::Read));
        assert_eq!(Address::parse("postgres://u@h/d").unwrap().backend, Backend::Postgres);
    }

    #[test]
    fn passwords_are_not_shown() {
        for url in [
            "postgresql://u:secret@h/d?a=b",
            "postgresql://u:sec/ret:s@secret@h/d?a=b",
            "postgresql://u:secret?x@h/d?a=b",
            "postgresql://h/d?user=u&password=secret&a=b",
            "postgresql://u:secret@h/d?password=secret&sslpassword=secret&PassWord=secret&a=b",
        ] {
            let address = Address::parse(url).unwrap();
            let shown = &address.shown;
            assert!(
                !shown.contains("secret") && !shown.contains("ret:s") && shown.ends_with("a=b"),
                "{shown}"
            );
            assert!(!address.without_secrets(&format!("what is {url}?")).contains("secret"));
        }
        let address = Address::parse("postgresql://u:s%40crit@h/d").unwrap();
        assert_eq!(address.without_secrets("no s@crit and no s%40crit"), "no *** and no ***");
        let Err(error) = Address::parse("mysql://u:secret@h/d") else { panic!("no MySQL") };
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn bad_addresses_say_why() {
        let addresses = [
            ("studies.sqlite", "does not start"),
            ("sqlite://", "no file"),
            ("sqlite:///folder/", "no file"),
            ("sqlite://:memory:", "not last"),
            ("sqlite://f?mode=memory", "not last"),
            ("sqlite://f?mode=upside-down", "means nothing"),
            ("sqlite://f%0Ag", "control characters"),
            ("mysql://h/d", "\"mysql\""),
            ("postgresql://", "no server"),
        ];
        for (url, part) in addresses {
            let Err(error @ StoreError::BadUrl { .. }) = Address::parse(url) else {
                panic!("{url} was taken")
            };
            assert!(error.to_string().contains(part) && error.to_string().contains("hint:"), "{error}");
        }
    }
}
