//! Connections: how many, how long, how large; with TLS or without.

use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::places::Places;
use super::progress::Progress;

/// How long a client may take to say what it wants, or to shake hands.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may take nothing of an answer. A slow one seems to for a while: its system
/// tells of what was taken only when a third of a buffer of some megabytes is free.
const STUCK: Duration = Duration::from_secs(20);
/// Bytes of a request's head that are read, and headers. Those of `guard` are fewer: what is
/// beyond these is refused without a word.
const LARGEST_HEAD: usize = 64 << 10;
const MOST_HEADERS: usize = 256;
/// How long answers under way may take after the end.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Answers those who connect until `end` changes.
pub(super) async fn answer(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut end: watch::Receiver<bool>,
) {
    let places = Arc::new(Places::new());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.changed() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors: they come back when somebody leaves.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let place = tokio::select! {
            place = places.take() => place,
            _ = end.changed() => break,
        };
        let _ = stream.set_nodelay(true);
        let stream = Progress::new(stream, STUCK);
        let (router, tls, end) = (router.clone(), tls.clone(), end.clone());
        tokio::spawn(async move {
            let router = router.layer(Extension(place.mark()));
            tokio::select! {
                () = converse(stream, tls, router, end) => {}
                () = place.ended() => {}
            }
        });
    }
    let _ = timeout(LAST_ANSWERS, places.all_free()).await;
}

/// Answers a client until one of the two has had enough.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    tls: Option<TlsAcceptor>,
    router: Router,
    end: watch::Receiver<bool>,
) {
    match tls {
        None => serve(stream, router, end).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(PATIENCE, tls.accept(stream)).await {
                serve(stream, router, end).await;
            }
        }
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    mut end: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // A client that breaks off is no failure of ours.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = end.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::mpsc::RecvTimeoutError;

    use axum::routing::get;
    use tokio::time::Instant;

    use super::*;

    /// Bytes of the answer.
    const LENGTH: usize = 64 << 20;

    /// How long a client is answered that reads `each` bytes after every pause of 100 ms, and
    /// what it has read then.
    fn answered(each: usize) -> (Duration, usize) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let asked = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        client.write_all(asked).unwrap();
        let (done, ended) = std::sync::mpsc::channel::<()>();
        let reading = std::thread::spawn(move || {
            let mut buffer = vec![0; each.max(1)];
            let mut read = 0;
            while ended.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                if each > 0 {
                    read += client.read(&mut buffer).unwrap_or(0);
                }
            }
            let mut rest = Vec::new();
            let _ = client.read_to_end(&mut rest);
            read + rest.len()
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let took = runtime.block_on(async {
            let stream = tokio::net::TcpStream::from_std(stream).unwrap();
            let router = Router::new().route("/", get(|| async { vec![0; LENGTH] }));
            let (_going_on, end) = watch::channel(false);
            let from = Instant::now();
            let patience = Duration::from_secs(1);
            let stream = Progress::new(stream, patience);
            let _ = timeout(Duration::from_secs(20), converse(stream, None, router, end)).await;
            from.elapsed()
        });
        drop(done);
        (took, reading.join().unwrap())
    }

    #[test]
    fn who_takes_nothing_of_an_answer_is_not_waited_for() {
        let (took, read) = answered(0);
        assert!(took < Duration::from_secs(10), "{took:?}");
        assert!(read < LENGTH, "{read}");
        // Who is slow gets all of it.
        let (took, read) = answered(3 << 20);
        assert!(took > Duration::from_secs(1), "{took:?}");
        assert!(read > LENGTH, "{read}");
    }
}
