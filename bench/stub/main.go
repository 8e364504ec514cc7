// The stub: what of a Kubernetes API server the benchmark's operators need, over HTTPS, at next to no cost.
//
// It keeps objects in memory as encoded JSON, checks nothing, and knows discovery, list (limit, continue), watch
// (bookmarks, initial events), get, create, merge patch, apply, update and delete of a fixed set of kinds. It counts
// requests by who sent them. What it cannot do it answers with 404, 405 or 415.
//
//	GET /bench/counters    requests since the start: {"operator": {"patch widgets/status": 1000}, "load": {...}}
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "write a kubeconfig here when ready")
	extra := flag.Int("extra-kinds", 0, "serve this many more custom kinds, Gadget1 and so on")
	flag.Parse()
	authority, pair, err := certificates()
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Handler:   newAPI(*extra),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		ErrorLog:  log.New(os.Stderr, "", 0),
	}
	if err := writeKubeconfig(*kubeconfig, "https://"+listener.Addr().String(), authority); err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.ServeTLS(listener, "", ""))
}

func certificates() (authority []byte, pair tls.Certificate, err error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, pair, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, pair, err
	}
	from, until := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench-ca"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, pair, err
	}
	parsed, err := x509.ParseCertificate(caDER)
	if err != nil {
		return nil, pair, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "bench-stub"}, NotBefore: from, NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, parsed, key.Public(), caKey)
	if err != nil {
		return nil, pair, err
	}
	authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	return authority, tls.Certificate{Certificate: [][]byte{leafDER, caDER}, PrivateKey: key}, nil
}

// writeKubeconfig writes it as kubectl does.
func writeKubeconfig(path, url string, authority []byte) error {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: stub
clusters:
- cluster:
    certificate-authority-data: %s
    server: %s
  name: stub
contexts:
- context:
    cluster: stub
    namespace: default
    user: stub
  name: stub
users:
- name: stub
  user:
    token: bench
`, base64.StdEncoding.EncodeToString(authority), url)
	if err := os.WriteFile(path+".tmp", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
