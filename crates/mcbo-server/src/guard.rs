//! What may come in: the one place where hosts, origins, tokens and the wish to change something are looked at, and the one place
//! where answers get the headers that keep browsers honest.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::answer::Failure;
use crate::{App, assets, is_local};

/// Scripts and styles come from this server alone, and none is written into a page; nothing is embedded, nothing embeds it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// Who tries tokens waits.
const WRONG_TOKEN: Duration = Duration::from_millis(300);

/// The rules.
pub struct Guard {
    /// Names by which the server may be called.
    hosts: Vec<String>,
    /// Whether numbers of addresses are names as well: a name that an attacker chose is none.
    numbers: bool,
    token: Option<String>,
    cookie: String,
    pub read_only: bool,
}

impl Guard {
    pub fn new(
        host: &str,
        names: &[String],
        address: SocketAddr,
        token: Option<String>,
        read_only: bool,
    ) -> Self {
        let local = is_local(address.ip());
        let mut hosts = vec!["localhost".to_owned(), host.trim_matches(['[', ']']).to_ascii_lowercase()];
        if !local {
            hosts.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        }
        // Cookies do not know ports.
        Self { hosts, numbers: !local, token, cookie: format!("mcbo-{}", address.port()), read_only }
    }

    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Whether the server goes by this name.
    fn is_ours(&self, host: &str) -> bool {
        let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
        self.hosts.contains(&host) || host.parse::<IpAddr>().is_ok_and(|ip| self.numbers || is_local(ip))
    }

    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = only(headers, &header::HOST).ok_or(Refusal::Host)?;
        let named = |authority: &str| self.is_ours(without_port(authority));
        if !named(host) || uri.authority().is_some_and(|authority| !named(authority.as_str())) {
            return Err(Refusal::Host);
        }
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
        let reads = method == Method::GET || method == Method::HEAD;
        if reads {
            // A page of another site may link here, but not read what is answered.
            let foreign = matches!(site, Some(b"cross-site" | b"same-site"));
            return if foreign && uri.path().starts_with("/api/") { Err(Refusal::Origin) } else { Ok(()) };
        }
        if !matches!(site, None | Some(b"same-origin" | b"none")) {
            return Err(Refusal::Origin);
        }
        if headers.contains_key(header::ORIGIN) {
            let origin = only(headers, &header::ORIGIN).ok_or(Refusal::Origin)?;
            let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if from != Some(host) {
                return Err(Refusal::Origin);
            }
        }
        if self.read_only {
            return Err(Refusal::ReadOnly);
        }
        // What a form of another site can send without being asked is not JSON.
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_json = kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json");
        if is_json { Ok(()) } else { Err(Refusal::Kind) }
    }

    /// Whether the visitor knows the token: in the header that programs send, or the cookie that pages have.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if bearer.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|given| same(given, token)) {
            return true;
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies.flat_map(|line| line.split(';')).any(|cookie| {
            cookie
                .trim()
                .split_once('=')
                .is_some_and(|(name, value)| name == self.cookie && same(value, token))
        })
    }
}

/// The value of a header that stands there once.
fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let (first, second) = (all.next()?, all.next());
    if second.is_some() { None } else { first.to_str().ok() }
}

/// `[::1]:8080` without its port.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port))
            if !host.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && !host.ends_with(':') =>
        {
            host
        }
        _ => authority,
    }
}

/// Compares in a time that says nothing about where they differ.
fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Why somebody does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Host,
    Origin,
    ReadOnly,
    Kind,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "this server does not go by that name; hint: use the address that `mcbo serve` printed",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "another site may not do that; hint: open the page of this server itself",
            ),
            Self::ReadOnly => (
                StatusCode::FORBIDDEN,
                "this server only shows; hint: start it without --read-only to change something",
            ),
            Self::Kind => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is not JSON; hint: send application/json")
            }
        };
        Failure::new(status, text).into_response()
    }
}

/// The layer around everything.
pub async fn stand(State(app): State<App>, request: Request, next: Next) -> Response {
    let guard = &app.guard;
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = match guard.check(request.method(), request.uri(), request.headers()) {
        Err(refusal) => refusal.into_response(),
        Ok(()) if guard.knows(request.headers()) || request.uri().path().starts_with("/assets/") => {
            next.run(request).await
        }
        Ok(()) => enter(guard, request.uri(), is_api).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Lets in who brings the token in the address, once: from then on a cookie has it.
async fn enter(guard: &Guard, uri: &Uri, is_api: bool) -> Response {
    let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let given = pairs.filter(|(name, _)| name == "token").map(|(_, value)| value.into_owned()).next();
    if let (Some(token), Some(given)) = (&guard.token, &given) {
        if same(given, token) {
            let cookie = format!("{}={token}; HttpOnly; SameSite=Strict; Path=/", guard.cookie);
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::SEE_OTHER;
            // Only the path goes on, and it cannot be another site's.
            let path = if uri.path().starts_with("//") { "/" } else { uri.path() };
            for (name, text) in [(header::SET_COOKIE, cookie.as_str()), (header::LOCATION, path)] {
                if let Ok(value) = HeaderValue::from_str(text) {
                    response.headers_mut().insert(name, value);
                }
            }
            return response;
        }
        tokio::time::sleep(WRONG_TOKEN).await;
    }
    if is_api {
        return Failure::new(
            StatusCode::UNAUTHORIZED,
            "the token is missing or wrong; hint: send `Authorization: Bearer TOKEN`",
        )
        .into_response();
    }
    let mut page = assets::page(assets::TOKEN);
    *page.status_mut() = StatusCode::UNAUTHORIZED;
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_ports() {
        let cases = [
            ("localhost:8080", "localhost"),
            ("localhost", "localhost"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("::1", "::1"),
            ("127.0.0.1:1", "127.0.0.1"),
        ];
        for (authority, host) in cases {
            assert_eq!(without_port(authority), host, "{authority}");
        }
    }

    #[test]
    fn a_server_knows_its_names() {
        let at = |ip: &str, host: &str| {
            Guard::new(host, &["lab-7".into()], SocketAddr::new(ip.parse().unwrap(), 8080), None, false)
        };
        let local = at("127.0.0.1", "127.0.0.1");
        for (host, ours) in [
            ("localhost", true),
            ("LOCALHOST", true),
            ("127.0.0.1", true),
            ("[::1]", true),
            ("evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("192.168.1.7", false),
            ("lab-7", false),
            ("", false),
        ] {
            assert_eq!(local.is_ours(host), ours, "{host}");
        }
        let open = at("192.168.1.7", "0.0.0.0");
        for (host, ours) in
            [("192.168.1.7", true), ("lab-7", true), ("localhost", true), ("evil.example", false)]
        {
            assert_eq!(open.is_ours(host), ours, "{host}");
        }
    }
}
