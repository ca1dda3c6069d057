//! Where a store lives.

use crate::StoreError;

/// The two databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

/// A checked address.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub backend: Backend,
    /// What the driver is given.
    pub url: String,
    /// What users are shown: no password.
    pub shown: String,
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
                if path == ":memory:" || query.contains("mode=memory") {
                    return Err(bad("a study in memory would not last"));
                }
                let given = if query.is_empty() { String::new() } else { format!("&{query}") };
                let mode = if query.contains("mode=") { "" } else { "&mode=rwc" };
                let query = format!("{mode}{given}");
                let url = format!("sqlite://{path}?{}", query.trim_start_matches('&'));
                Ok(Self { backend: Backend::Sqlite, url, shown })
            }
            "postgresql" | "postgres" if rest.is_empty() => Err(bad("it names no server")),
            "postgresql" | "postgres" => Ok(Self { backend: Backend::Postgres, url: url.to_owned(), shown }),
            other => Err(bad(&format!("{other:?} is not a database this program knows"))),
        }
    }
}

/// The address with `***` for the password.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let plain =
        match rest[..end].rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?.0, host))) {
            Some((user, host)) => format!("{scheme}://{user}:***@{host}{}", &rest[end..]),
            None => url.to_owned(),
        };
    match plain.split_once("password=") {
        Some((head, tail)) => format!("{head}password=***{}", tail.find('&').map_or("", |at| &tail[at..])),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_addresses_are_read() {
        let file = Address::parse("sqlite:///a/b.sqlite").unwrap();
        assert_eq!((file.backend, file.url.as_str()), (Backend::Sqlite, "sqlite:///a/b.sqlite?mode=rwc"));
        assert_eq!(Address::parse("sqlite://b.sqlite?mode=ro").unwrap().url, "sqlite://b.sqlite?mode=ro");
        assert_eq!(Address::parse("postgres://u@h/d").unwrap().backend, Backend::Postgres);
    }

    #[test]
    fn passwords_are_not_shown() {
        for url in ["postgresql://u:secret@h/d?a=b", "postgresql://h/d?user=u&password=secret&a=b"] {
            let shown = Address::parse(url).unwrap().shown;
            assert!(!shown.contains("secret") && shown.ends_with("a=b"), "{shown}");
        }
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
