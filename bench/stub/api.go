package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const bookmarkSeconds = 60

type api struct {
	kinds       []*kind
	collections map[string]*collection // by path and plural: /apis/apps/v1/deployments
	mu          sync.Mutex
	counters    map[string]map[string]int
}

func newAPI(extra int) *api {
	a := &api{
		kinds: kinds(extra), collections: map[string]*collection{},
		counters: map[string]map[string]int{"operator": {}, "load": {}},
	}
	for _, k := range a.kinds {
		a.collections[k.path()+"/"+k.Plural] = newCollection(k)
	}
	_, _ = a.collections["/api/v1/namespaces"].create("", "default", "stub", []byte(`{"metadata":{}}`), true)
	return a
}

// target is what a path names.
type target struct {
	collection             *collection
	namespace, name, below string
}

func (a *api) find(path string) *target {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	head := 2
	if parts[0] == "apis" {
		head = 3
	}
	if len(parts) <= head {
		return nil
	}
	base, rest := "/"+strings.Join(parts[:head], "/"), parts[head:]
	t := &target{}
	if rest[0] == "namespaces" && len(rest) > 2 {
		t.namespace, rest = rest[1], rest[2:]
	}
	t.collection = a.collections[base+"/"+rest[0]]
	if t.collection == nil {
		return nil
	}
	if len(rest) > 1 {
		t.name = rest[1]
	}
	if len(rest) > 2 {
		t.below = rest[2]
	}
	return t
}

func (t *target) key() string { return t.namespace + "/" + t.name }

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if t := a.find(r.URL.Path); t != nil {
		a.serve(w, r, t)
		return
	}
	legacy := r.URL.Path == "/api"
	switch {
	case r.URL.Path == "/bench/counters":
		a.mu.Lock()
		defer a.mu.Unlock()
		answer(w, 200, a.counters)
	case r.URL.Path == "/version":
		answer(w, 200, map[string]string{"major": "1", "minor": "37", "gitVersion": "v1.37.2-stub", "platform": "stub"})
	case (legacy || r.URL.Path == "/apis") && strings.Contains(r.Header.Get("Accept"), "APIGroupDiscoveryList"):
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		answer(w, 200, aggregated(a.kinds, legacy))
	case legacy:
		answer(w, 200, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	case r.URL.Path == "/apis":
		answer(w, 200, groupList(a.kinds))
	default:
		if list := resourceList(a.kinds, r.URL.Path); list != nil {
			answer(w, 200, list)
			return
		}
		for _, k := range a.kinds {
			if k.Group != "" && r.URL.Path == "/apis/"+k.Group {
				found := group(k)
				found["kind"], found["apiVersion"] = "APIGroup", "v1"
				answer(w, 200, found)
				return
			}
		}
		refuse(w, notFound)
	}
}

func (a *api) serve(w http.ResponseWriter, r *http.Request, t *target) {
	query := r.URL.Query()
	watching := query.Get("watch") == "true" || query.Get("watch") == "1"
	sender, verb := a.count(r, t, watching)
	switch verb {
	case "watch":
		watch(w, r, t)
		return
	case "list":
		list(w, r, t)
		return
	case "get":
		if o := t.collection.get(t.key()); o != nil {
			reply(w, 200, o, nil)
			return
		}
		answer(w, 404, map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{},
			"status": "Failure", "message": t.name + " not found", "reason": "NotFound", "code": 404,
			"details": map[string]string{
				"name": t.name, "group": t.collection.kind.Group, "kind": t.collection.kind.Plural}})
		return
	case "delete":
		o, failed := t.collection.remove(t.key())
		reply(w, 200, o, failed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, invalid(err))
		return
	}
	manager := query.Get("fieldManager")
	if manager == "" {
		manager, _, _ = strings.Cut(r.UserAgent(), "/")
	}
	kept := sender == "load"
	switch verb {
	case "create":
		o, failed := t.collection.create(t.namespace, "", manager, body, kept)
		reply(w, 201, o, failed)
	case "apply":
		if t.collection.get(t.key()) == nil {
			o, failed := t.collection.create(t.namespace, t.name, manager, body, kept)
			reply(w, 201, o, failed)
			return
		}
		fallthrough
	case "patch", "update":
		o, failed := t.collection.patch(t.key(), manager, body, t.below == "status")
		reply(w, 200, o, failed)
	default:
		refuse(w, &failure{415, "UnsupportedMediaType", "the stub knows merge patches and apply: " + verb})
	}
}

// count notes a request, and says who sent it and what it does.
func (a *api) count(r *http.Request, t *target, watching bool) (sender, verb string) {
	switch r.Method {
	case http.MethodGet:
		verb = "get"
		if t.name == "" {
			verb = "list"
		}
		if watching {
			verb = "watch"
		}
	case http.MethodPost:
		verb = "create"
	case http.MethodPut:
		verb = "update"
	case http.MethodDelete:
		verb = "delete"
	case http.MethodPatch:
		verb = r.Header.Get("Content-Type")
		switch {
		case strings.HasPrefix(verb, "application/merge-patch+json"):
			verb = "patch"
		case strings.HasPrefix(verb, "application/apply-patch"):
			verb = "apply"
		}
	}
	sender = "operator"
	if strings.HasPrefix(r.UserAgent(), "bench-load") {
		sender = "load"
	}
	name := verb + " " + t.collection.kind.Plural
	if t.below != "" {
		name += "/" + t.below
	}
	a.mu.Lock()
	a.counters[sender][name]++
	a.mu.Unlock()
	return sender, verb
}

func list(w http.ResponseWriter, r *http.Request, t *target) {
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	// A continue token is the version of the first page and the key to go on after.
	first, after, _ := strings.Cut(query.Get("continue"), ":")
	found, next, at := t.collection.page(t.namespace, after, limit)
	if first != "" {
		at, _ = strconv.ParseInt(first, 10, 64)
	}
	k := t.collection.kind
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d"`, k.apiVersion(), k.Kind+"List", at)
	if next != "" {
		fmt.Fprintf(w, `,"continue":"%d:%s"`, at, next)
	}
	_, _ = io.WriteString(w, `},"items":[`)
	for number, o := range found {
		if number > 0 {
			_, _ = io.WriteString(w, ",")
		}
		_, _ = w.Write(o.data)
	}
	_, _ = io.WriteString(w, "]}\n")
}

func watch(w http.ResponseWriter, r *http.Request, t *target) {
	query := r.URL.Query()
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	if seconds <= 0 {
		seconds = 1800
	}
	after, _ := strconv.ParseInt(query.Get("resourceVersion"), 10, 64)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	if query.Get("sendInitialEvents") == "true" {
		found, _, at := t.collection.page(t.namespace, "", 0)
		for _, o := range found {
			_, _ = w.Write([]byte(`{"type":"ADDED","object":`))
			_, _ = w.Write(o.data)
			_, _ = w.Write([]byte("}\n"))
		}
		_, _ = w.Write(bookmark(t.collection.kind, at, `,"annotations":{"k8s.io/initial-events-end":"true"}`))
		after = at
	} else if after == 0 {
		after = version.Load()
	}
	flusher := w.(http.Flusher)
	flusher.Flush()
	end := time.After(time.Duration(seconds) * time.Second)
	mark := time.NewTicker(bookmarkSeconds * time.Second)
	defer mark.Stop()
	for {
		events, changed, known := t.collection.since(after)
		if !known {
			_, _ = io.WriteString(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},`+
				`"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}`+"\n")
			return
		}
		for _, e := range events {
			after = e.version
			if t.namespace == "" || t.namespace == e.namespace {
				if _, err := w.Write(e.line); err != nil {
					return
				}
			}
		}
		if len(events) > 0 {
			flusher.Flush()
		}
		select {
		case <-changed:
		case <-mark.C:
			if query.Get("allowWatchBookmarks") == "true" {
				_, _ = w.Write(bookmark(t.collection.kind, after, ""))
				flusher.Flush()
			}
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func bookmark(k *kind, at int64, extra string) []byte {
	return fmt.Appendf(nil, `{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d"%s}}}`+"\n",
		k.apiVersion(), k.Kind, at, extra)
}

func reply(w http.ResponseWriter, code int, o *object, failed *failure) {
	if failed == nil && o == nil {
		failed = notFound
	}
	if failed != nil {
		refuse(w, failed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(o.data)))
	w.WriteHeader(code)
	_, _ = w.Write(o.data)
}

func refuse(w http.ResponseWriter, f *failure) {
	answer(w, f.code, map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{},
		"status": "Failure", "message": f.message, "reason": f.reason, "code": f.code})
}

func answer(w http.ResponseWriter, code int, body any) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
