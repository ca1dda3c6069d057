//! Studies in a browser: pages, the JSON of the command line, and live updates, on one address.
//!
//! Everything the pages need is in the program; nothing is loaded from elsewhere. What may come in is decided in one place
//! (`guard`), what is said of a study is said by `mcbo-report`, and what is stored is stored by `mcbo-store`, whose calls block
//! and so run on threads of their own (`library`).
//!
//! ```no_run
//! use mcbo_server::{Options, Server};
//! let store = mcbo_store::Store::open("sqlite:///folder/studies.sqlite")?;
//! let server = Server::bind(store, Options::default())?;
//! println!("{}", server.url());
//! server.run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod api;
mod assets;
mod connection;
mod guard;
mod library;
mod live;
mod routes;

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;

use mcbo_store::Store;
use tokio::sync::watch;

use guard::Guard;
use library::Library;
use live::Live;

pub use routes::addresses;

/// What [`Server::bind`] is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The name or number of the address to listen on.
    pub host: String,
    /// The port; 0 takes any that is free.
    pub port: u16,
    /// What visitors must know. Where others than this computer can reach the address, one is made if there is none.
    pub token: Option<String>,
    /// Nothing can be changed.
    pub read_only: bool,
    /// Who makes changes, where the page does not say it.
    pub author: String,
    /// Other names of this computer, by which the address may be called.
    pub names: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        let author = "browser".into();
        Self {
            host: "127.0.0.1".into(),
            port: 8080,
            token: None,
            read_only: false,
            author,
            names: Vec::new(),
        }
    }
}

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The host means nothing.
    #[error(
        "{host:?} is no address of this computer: {reason}; hint: use 127.0.0.1 for this computer alone, or 0.0.0.0 for all its addresses"
    )]
    Host {
        /// The host asked for.
        host: String,
        /// What the system says.
        reason: String,
    },
    /// The address cannot be used.
    #[error("{address} cannot be used: {reason}; hint: another program may have it, try another --port")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        reason: String,
    },
    /// The token is no use.
    #[error(
        "the token {reason}; hint: use 8 or more letters, digits, - or _, or leave it out and one is made"
    )]
    Token {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The system refuses something else.
    #[error("the server cannot run: {0}")]
    System(#[from] std::io::Error),
}

/// What all requests share.
#[derive(Clone)]
pub(crate) struct App {
    pub guard: Arc<Guard>,
    pub library: Arc<Library>,
    pub live: Arc<Live>,
}

/// A server that has its address.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
    stop: (watch::Sender<bool>, watch::Receiver<bool>),
}

/// Ends a server from another thread.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// No more requests are taken; [`Server::run`] returns.
    pub fn stop(&self) {
        let _ = self.0.send(true);
    }
}

impl Server {
    /// Takes the address.
    ///
    /// # Errors
    /// If it cannot be had, or the token is no use.
    pub fn bind(store: Store, options: Options) -> Result<Self, ServeError> {
        let Options { host, port, token, read_only, author, names } = options;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found = (bare, port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        let refused = |reason: String| ServeError::Host { host: host.clone(), reason };
        let found = found.map_err(|error| refused(error.to_string()))?;
        let address = *found.first().ok_or_else(|| refused("it has none".into()))?;
        let token = match token {
            Some(token) => Some(checked(token)?),
            None if is_local(address.ip()) => None,
            None => Some(new_token()?),
        };
        let listener = TcpListener::bind(address)
            .map_err(|error| ServeError::Address { address, reason: error.to_string() })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let guard = Guard::new(&host, &names, address, token, read_only);
        let library = Arc::new(Library::new(store, author));
        let live = Arc::new(Live::new(library.clone()));
        let app = App { guard: Arc::new(guard), library, live };
        Ok(Self { listener, address, app, stop: watch::channel(false) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser, with the token if there is one.
    pub fn url(&self) -> String {
        let host = match self.address.ip() {
            ip if ip.is_unspecified() && ip.is_ipv4() => "127.0.0.1".to_owned(),
            ip if ip.is_unspecified() => "[::1]".to_owned(),
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let query = self.app.guard.token().map_or_else(String::new, |token| format!("?token={token}"));
        format!("http://{host}:{}/{query}", self.address.port())
    }

    /// Ends it from another thread.
    pub fn stopper(&self) -> Stop {
        Stop(self.stop.0.clone())
    }

    /// Answers requests until it is stopped.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn run(self) -> Result<(), ServeError> {
        // One thread waits for everybody; whatever computes or reads the database does so on others.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(64)
            .thread_name("mcbo-serve")
            .build()?;
        let Self { listener, app, stop: (_sender, stopped), .. } = self;
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            connection::serve(listener, routes::router(app), stopped).await;
            Ok::<(), std::io::Error>(())
        })?;
        // Computations under way are not waited for.
        runtime.shutdown_background();
        Ok(())
    }
}

/// Whether only this computer can reach an address.
pub(crate) fn is_local(ip: IpAddr) -> bool {
    ip.is_loopback()
}

fn checked(token: String) -> Result<String, ServeError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
    if token.len() < 8 {
        return Err(ServeError::Token { reason: "is too short" });
    }
    match token.chars().all(plain) {
        true => Ok(token),
        false => Err(ServeError::Token { reason: "has letters that an address cannot have" }),
    }
}

/// A token that nobody guesses: 128 bits.
fn new_token() -> Result<String, ServeError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
