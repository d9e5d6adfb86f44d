//! Connections: how many, how long, how large; with TLS or without.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Connections at once; more wait.
const MOST_CONNECTIONS: usize = 256;
/// How long a client may take to say what it wants, or to shake hands.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes that the head of a request may have.
const LARGEST_HEAD: usize = 32 << 10;
/// Headers of a request.
const MOST_HEADERS: usize = 64;
/// How long answers under way may take after the end.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Answers those who connect until `end` changes.
pub(super) async fn answer(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut end: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(seat) = room.clone().acquire_owned().await else {
            return;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.changed() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors: they come back when somebody leaves.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (router, tls, end) = (router.clone(), tls.clone(), end.clone());
        tokio::spawn(async move {
            match tls {
                None => serve(stream, router, end).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(PATIENCE, tls.accept(stream)).await {
                        serve(stream, router, end).await;
                    }
                }
            }
            drop(seat);
        });
    }
    let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
    let _ = timeout(LAST_ANSWERS, room.acquire_many(all)).await;
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
