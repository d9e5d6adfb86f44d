//! Certificates: the user's own, or one that is made.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// What a connection beyond this machine is secured with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// Files of the user: the certificate (and those above it), and its key.
    Files {
        /// The certificate, PEM.
        certificate: PathBuf,
        /// Its key, PEM.
        key: PathBuf,
    },
    /// Made when the server starts, and gone with it.
    Made,
}

/// Why TLS cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file of the user cannot be read or understood.
    #[error("{path}: {why}\nhint: --cert and --key name PEM files")]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// Certificate and key do not fit, or none could be made.
    #[error("no TLS with this certificate: {0}")]
    Certificate(String),
}

/// What accepts TLS connections.
pub(super) struct Secured {
    pub(super) acceptor: TlsAcceptor,
    /// SHA-256 of a certificate that was made, as browsers show it.
    pub(super) fingerprint: Option<String>,
    /// The user's own certificate, if there is one.
    pub(super) given: Option<CertificateDer<'static>>,
}

/// For a server with those names and addresses.
pub(super) fn secured(
    certificate: &Certificate,
    names: &[String],
    addresses: &[IpAddr],
) -> Result<Secured, TlsError> {
    let (chain, key, made) = match certificate {
        Certificate::Files { certificate, key } => {
            let (chain, key) = (read_chain(certificate)?, read_key(key)?);
            (chain, key, false)
        }
        Certificate::Made => {
            let (certificate, key) = made(names, addresses)?;
            (vec![certificate], key, true)
        }
    };
    let fingerprint = chain.first().filter(|_| made).map(|c| fingerprint(c));
    let given = chain.first().filter(|_| !made).cloned();
    let wrong = |e: tokio_rustls::rustls::Error| TlsError::Certificate(e.to_string());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(wrong)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(wrong)?;
    Ok(Secured {
        acceptor: TlsAcceptor::from(Arc::new(config)),
        fingerprint,
        given,
    })
}

fn file_error(path: &Path, why: impl std::fmt::Display) -> TlsError {
    TlsError::File {
        path: path.display().to_string(),
        why: why.to_string(),
    }
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_file_iter(path).map_err(|e| file_error(path, e))?;
    let chain: Result<Vec<_>, _> = found.collect();
    let chain = chain.map_err(|e| file_error(path, e))?;
    if chain.is_empty() {
        return Err(file_error(path, "it has no certificate"));
    }
    Ok(chain)
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(|e| file_error(path, e))
}

fn made(
    names: &[String],
    addresses: &[IpAddr],
) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), TlsError> {
    let mut all = vec!["localhost".to_owned()];
    all.extend(names.iter().cloned());
    all.extend(addresses.iter().map(IpAddr::to_string));
    let failed = |e: rcgen::Error| TlsError::Certificate(e.to_string());
    let made = rcgen::generate_simple_self_signed(all).map_err(failed)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((made.cert.der().clone(), key.into()))
}

/// `AB:CD:...`
fn fingerprint(certificate: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
    let bytes: Vec<String> = digest.as_ref().iter().map(|b| format!("{b:02X}")).collect();
    bytes.join(":")
}

#[cfg(test)]
mod tests {
    use tokio_rustls::rustls::pki_types::ServerName;

    use super::*;

    #[test]
    fn one_that_is_made_is_for_all_names_and_addresses() {
        let addresses = ["192.0.2.7", "2001:db8::7"].map(|a| a.parse().unwrap());
        let (made, _) = made(&["lab7".to_owned()], &addresses).unwrap();
        let made = webpki::EndEntityCert::try_from(&made).unwrap();
        for name in ["localhost", "lab7", "192.0.2.7", "2001:db8::7"] {
            let name = ServerName::try_from(name).unwrap();
            made.verify_is_valid_for_subject_name(&name).unwrap();
        }
    }

    #[test]
    fn a_certificate_is_made_or_read_or_refused() {
        let addresses = ["192.0.2.7".parse().unwrap()];
        let secured_with = |c: &Certificate| secured(c, &["lab7".to_owned()], &addresses);
        let fingerprint = secured_with(&Certificate::Made)
            .unwrap()
            .fingerprint
            .unwrap();
        assert_eq!(fingerprint.len(), 32 * 3 - 1);
        let dir = std::env::temp_dir().join(format!("sonde-tls-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let made = rcgen::generate_simple_self_signed(vec!["lab7".to_owned()]).unwrap();
        let (certificate, key) = (dir.join("cert.pem"), dir.join("key.pem"));
        let write = |path: &Path, text: &str| run::write::write_durably(path, text.as_bytes());
        write(&certificate, &made.cert.pem()).unwrap();
        write(&key, &made.signing_key.serialize_pem()).unwrap();
        let files = |certificate: &Path, key: &Path| Certificate::Files {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        };
        assert!(
            secured_with(&files(&certificate, &key))
                .unwrap()
                .fingerprint
                .is_none()
        );
        let missing = secured_with(&files(&dir.join("none"), &key)).err().unwrap();
        assert!(missing.to_string().contains("none"), "{missing}");
        for (a, b) in [(&key, &key), (&certificate, &certificate)] {
            assert!(secured_with(&files(a, b)).is_err());
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
