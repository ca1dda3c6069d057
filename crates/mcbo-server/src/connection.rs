//! Connections: how many there may be, and how long one waits for the other side.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::time::Sleep;

/// Connections at once. Beyond that the one that has been idle for longest is closed for each that comes.
const MOST: usize = 512;
/// How long the head of a request may take to come in, and a connection may be idle.
const HEAD: Duration = Duration::from_secs(15);
/// How long nobody may read what is sent.
const UNREAD: Duration = Duration::from_secs(30);
/// The longest head.
const BUFFER: usize = 64 * 1024;

/// A connection as the list has it.
#[derive(Default)]
struct Line {
    /// Requests that are being answered.
    busy: AtomicUsize,
    hang_up: Notify,
}

type Lines = Arc<Mutex<VecDeque<Arc<Line>>>>;

/// Takes connections until it is told to stop.
pub async fn serve(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let lines = Lines::default();
    loop {
        let accepted = match select(pin!(listener.accept()), pin!(stop.changed())).await {
            Either::Left((accepted, _)) => accepted,
            Either::Right(_) => return,
        };
        let Ok((stream, _)) = accepted else {
            // Out of files, for example: those that are there go on, and some will end.
            make_room(&lines);
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let line = Arc::new(Line::default());
        let full = {
            let mut all = lock(&lines);
            all.push_back(line.clone());
            all.len() > MOST
        };
        if full {
            make_room(&lines);
        }
        tokio::spawn(attend(stream, router.clone(), line, lines.clone()));
    }
}

fn lock(lines: &Lines) -> std::sync::MutexGuard<'_, VecDeque<Arc<Line>>> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes the connection that has been idle for longest.
fn make_room(lines: &Lines) {
    let mut all = lock(lines);
    if let Some(place) = all.iter().position(|line| line.busy.load(Ordering::Relaxed) == 0) {
        // It is off the list at once, so that the next to come closes another one.
        all.remove(place).iter().for_each(|line| line.hang_up.notify_one());
    }
}

/// Answers the requests of one connection.
async fn attend(stream: TcpStream, router: Router, line: Arc<Line>, lines: Lines) {
    let _ = stream.set_nodelay(true);
    let (inner, counted) = (TowerToHyperService::new(router), line.clone());
    let service = hyper::service::service_fn(move |request| {
        let (answer, line) = (inner.call(request), counted.clone());
        async move {
            line.busy.fetch_add(1, Ordering::Relaxed);
            // Also when the other side goes away, which drops this.
            let _done = Done(&line);
            answer.await
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(Patient { stream, waiting: None }), service);
    let _ = select(pin!(connection), pin!(line.hang_up.notified())).await;
    lock(&lines).retain(|other| !Arc::ptr_eq(other, &line));
}

struct Done<'a>(&'a Line);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream that fails when nobody reads for long what is written to it.
struct Patient {
    stream: TcpStream,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    /// Waits no longer than there is patience.
    fn patiently<T>(&mut self, context: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.waiting = None;
            return poll;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(UNREAD)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.patiently(context, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.patiently(context, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(context);
        self.patiently(context, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
