//! What this server may be called in a request, and what it calls itself in its address.

use std::net::{IpAddr, SocketAddr};

use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use webpki::EndEntityCert;

/// Names of the server, beside `localhost`.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Of this machine.
    pub(super) own: Vec<String>,
    /// Its addresses, the one that others reach it by first.
    pub(super) addresses: Vec<IpAddr>,
    /// The user's certificate. Nobody else can answer by its names, so that a page of another
    /// site that makes its own name lead here gets no connection.
    pub(super) certificate: Option<CertificateDer<'static>>,
}

impl Names {
    /// Whether the server has the name `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        let same = |known: &String| known.eq_ignore_ascii_case(name);
        name.eq_ignore_ascii_case("localhost")
            || self.own.iter().any(same)
            || self.is_certified(name)
    }

    fn certificate(&self) -> Option<EndEntityCert<'_>> {
        EndEntityCert::try_from(self.certificate.as_ref()?).ok()
    }

    /// Whether the user's certificate is for `name`, a name or an address.
    fn is_certified(&self, name: &str) -> bool {
        let (Some(certificate), Ok(name)) = (self.certificate(), ServerName::try_from(name)) else {
            return false;
        };
        certificate.verify_is_valid_for_subject_name(&name).is_ok()
    }

    /// Host and port to open, of a server that listens at `bound`: by the user's certificate
    /// where there is one, and never the address that stands for all.
    pub(super) fn authority(&self, bound: SocketAddr) -> String {
        let ip = bound.ip();
        let addresses: Vec<IpAddr> = if ip.is_unspecified() {
            // What listens at `::` takes IPv4 too.
            let reached = |a: &&IpAddr| ip.is_ipv6() || a.is_ipv4();
            self.addresses.iter().filter(reached).copied().collect()
        } else {
            vec![ip]
        };
        let certified = (!ip.is_loopback())
            .then(|| self.certified_name(&addresses))
            .flatten();
        let is_name = |name: &&String| ServerName::try_from(name.as_str()).is_ok();
        let host = match (certified, addresses.first()) {
            (Some(name), _) => name,
            (None, Some(address)) => address.to_string(),
            (None, None) => match self.own.iter().find(is_name) {
                Some(name) => name.clone(),
                None => "localhost".into(),
            },
        };
        match host.parse::<IpAddr>() {
            Ok(address) => SocketAddr::new(address, bound.port()).to_string(),
            Err(_) => format!("{host}:{}", bound.port()),
        }
    }

    /// One that the user's certificate is for: of this machine, of those in it, an address.
    fn certified_name(&self, addresses: &[IpAddr]) -> Option<String> {
        let certificate = self.certificate()?;
        let listed = certificate.valid_dns_names().map(str::to_owned);
        let addresses = addresses.iter().map(IpAddr::to_string);
        let mut all = self.own.iter().cloned().chain(listed).chain(addresses);
        // `*.example.com` is none.
        all.find(|name| self.is_certified(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(certified: &[&str]) -> Names {
        let certified: Vec<String> = certified.iter().map(|n| (*n).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(certified.clone()).unwrap();
        Names {
            own: vec!["lab7".into()],
            addresses: vec!["192.0.2.7".parse().unwrap(), "2001:db8::7".parse().unwrap()],
            certificate: (!certified.is_empty()).then(|| made.cert.der().clone()),
        }
    }

    #[test]
    fn the_certificate_names_the_server() {
        let own = names(&["*.lab.example.com", "lab7.example.com"]);
        for name in ["lab7.example.com", "LAB7", "localhost", "a.lab.example.com"] {
            assert!(own.has(name), "{name}");
        }
        for name in ["example.com", "lab8.example.com", "a.b.lab.example.com", ""] {
            assert!(!own.has(name), "{name}");
        }
        assert!(!names(&[]).has("lab7.example.com"));
    }

    #[test]
    fn the_address_can_be_opened_from_elsewhere() {
        let printed = |certified: &[&str], bound: &str| {
            let authority = names(certified).authority(bound.parse().unwrap());
            authority.strip_suffix(":8443").unwrap().to_owned()
        };
        let everywhere = "0.0.0.0:8443";
        assert_eq!(printed(&[], everywhere), "192.0.2.7");
        assert_eq!(printed(&[], "127.0.0.1:8443"), "127.0.0.1");
        assert_eq!(printed(&[], "198.51.100.1:8443"), "198.51.100.1");
        let name = "lab7.example.com";
        assert_eq!(printed(&["*.example.com", name], everywhere), name);
        assert_eq!(printed(&[name], "198.51.100.1:8443"), name);
        assert_eq!(printed(&[name], "127.0.0.1:8443"), "127.0.0.1");
        assert_eq!(printed(&[name, "lab7"], everywhere), "lab7");
        assert_eq!(printed(&["2001:db8::7"], "[::]:8443"), "[2001:db8::7]");
        assert_eq!(printed(&["*.example.com"], everywhere), "192.0.2.7");
        let alone = Names::default().authority("0.0.0.0:8443".parse().unwrap());
        assert_eq!(alone, "localhost:8443");
    }
}
