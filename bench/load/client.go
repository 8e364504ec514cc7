package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	collection = "/apis/bench.example.com/v1/namespaces/default/widgets"
	children   = "/api/v1/namespaces/default/configmaps"
	userAgent  = "bench-load/1"
	settings   = 16
)

type client struct {
	http          *http.Client
	server, token string
}

// newClient reads the flags: -server, -ca and either -cert and -key or -token.
func newClient() (*client, error) {
	server := flag.String("server", "", "https://host:port")
	ca := flag.String("ca", "", "file of the certificate authority")
	cert := flag.String("cert", "", "file of the client certificate")
	key := flag.String("key", "", "file of its key")
	token := flag.String("token", "", "bearer token")
	flag.Parse()
	authority, err := os.ReadFile(*ca)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	config.RootCAs.AppendCertsFromPEM(authority)
	if *cert != "" {
		pair, err := tls.LoadX509KeyPair(*cert, *key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	return &client{&http.Client{Transport: transport}, *server, *token}, nil
}

func (c *client) send(method, path, contentType string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Content-Type", contentType)
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.http.Do(request)
}

func (c *client) call(method, path, contentType string, body []byte) error {
	answer, err := c.send(method, path, contentType, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d: %.300s", method, path, answer.StatusCode, text)
	}
	return err
}

func (c *client) create(body []byte) error {
	return c.call("POST", collection+"?fieldManager=bench-load", "application/json", body)
}

func (c *client) setRevision(name string, revision int64) error {
	body := fmt.Appendf(nil, `{"spec":{"revision":%d}}`, revision)
	return c.call("PATCH", collection+"/"+name+"?fieldManager=bench-load", "application/merge-patch+json", body)
}

func (c *client) remove(name string, child bool) error {
	if child {
		if err := c.call("DELETE", children+"/"+name, "application/json", nil); err != nil {
			return err
		}
	}
	return c.call("DELETE", collection+"/"+name, "application/json", nil)
}

// widget is about 1.5 KB; with what the server adds, managedFields above all, it is 3 KB.
func widget(name string, agrees, kopf bool) []byte {
	spec := []byte(`{"revision":1,"settings":{`)
	for number := range settings {
		if number > 0 {
			spec = append(spec, ',')
		}
		spec = fmt.Appendf(spec, `"setting%02d":{"enabled":true,"value":"value-%02d-of-this","weight":%d}`, number, number, number)
	}
	spec = append(spec, "}}"...)
	annotations := `"example.com/note":"` + strings.Repeat("x", 120) + `"`
	if kopf {
		// What kopf would have left on an object that it has handled.
		annotations += `,"kopf.zalando.org/last-handled-configuration":` + strconv.Quote(`{"spec":`+string(spec)+
			`,"metadata":{"labels":{"app.kubernetes.io/name":"widget"},"annotations":{`+annotations+`}}}`+"\n")
	}
	status := ""
	if agrees {
		status = fmt.Sprintf(`,"status":{"revision":1,"summary":"%d settings"}`, settings)
	}
	return fmt.Appendf(nil, `{"apiVersion":"bench.example.com/v1","kind":"Widget","metadata":{"name":%q,"namespace":"default",`+
		`"labels":{"app.kubernetes.io/name":"widget"},"annotations":{%s}},"spec":%s%s}`, name, annotations, spec, status)
}

// watch follows the widgets for as long as the program lives. A server that is busy closes the watches that it cannot
// serve in time; then it goes on from where it was.
func watch(c *client, board *board) {
	opened, version := false, ""
	for {
		answer, err := c.send("GET", collection+"?watch=true&timeoutSeconds=3600&resourceVersion="+version, "", nil)
		if err == nil && answer.StatusCode != 200 {
			text, _ := io.ReadAll(answer.Body)
			err = fmt.Errorf("watch: %d: %.300s", answer.StatusCode, text)
		}
		if err != nil {
			// The server is not quite there yet (429 right after the CRD), or gone.
			if opened {
				log.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if !opened {
			opened = true
			close(board.open)
		}
		lines := bufio.NewReaderSize(answer.Body, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			if bytes.HasPrefix(line, errorMark) {
				log.Fatalf("the watch ended, what happened meanwhile is not known: %.300s", line)
			}
			if name, status := read(line); name != "" {
				board.saw(name, status, time.Now())
			}
			version = versionOf(line, version)
		}
		answer.Body.Close()
		log.Printf("the watch was closed; it goes on from version %s", version)
	}
}

var (
	nameMark     = []byte(`"name":"bench-`)
	statusMark   = []byte(`"status":{`)
	revisionMark = []byte(`"revision":`)
	versionMark  = []byte(`"resourceVersion":"`)
	errorMark    = []byte(`{"type":"ERROR"`)
)

// versionOf finds the version of the object in a line; otherwise it is the one before.
func versionOf(line []byte, before string) string {
	start := bytes.Index(line, versionMark)
	if start < 0 {
		return before
	}
	version := line[start+len(versionMark):]
	return string(version[:bytes.IndexByte(version, '"')])
}

// read finds a widget's name and status.revision by their marks: to decode the line would cost more than the stub does.
// Quotes inside of strings are escaped, so the marks are found in none.
func read(line []byte) (string, int64) {
	start := bytes.Index(line, nameMark)
	if start < 0 {
		return "", 0
	}
	name := line[start+len(`"name":"`):]
	name = name[:bytes.IndexByte(name, '"')]
	at := bytes.LastIndex(line, statusMark)
	if at < 0 {
		return string(name), 0
	}
	status := line[at:]
	at = bytes.Index(status, revisionMark)
	if at < 0 {
		return string(name), 0
	}
	revision := int64(0)
	for _, digit := range status[at+len(revisionMark):] {
		if digit < '0' || digit > '9' {
			break
		}
		revision = revision*10 + int64(digit-'0')
	}
	return string(name), revision
}
