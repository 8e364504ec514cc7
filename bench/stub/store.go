package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const keptEvents = 50_000

var version atomic.Int64

type failure struct {
	code            int
	reason, message string
}

var (
	notFound = &failure{404, "NotFound", "not found"}
	conflict = &failure{409, "Conflict", "the object has been modified"}
)

func invalid(err error) *failure { return &failure{400, "BadRequest", err.Error()} }

type event struct {
	version   int64
	namespace string
	line      []byte
}

// collection holds all objects of one kind, and the events that led to them. changed is closed at each event.
type collection struct {
	kind    *kind
	mu      sync.Mutex
	objects map[string]*object
	sorted  []string // keys; nil when it has to be made anew
	events  []event
	dropped int64 // the version up to which events are forgotten
	changed chan struct{}
}

func newCollection(kind *kind) *collection {
	return &collection{kind: kind, objects: map[string]*object{}, changed: make(chan struct{})}
}

// put stores a new state of an object. The lock is held.
func (c *collection) put(o *object, what string) {
	o.version = version.Add(1)
	o.render(c.kind)
	if c.objects[o.key()] == nil {
		c.sorted = nil
	}
	c.objects[o.key()] = o
	c.tell(o, what)
}

func (c *collection) tell(o *object, what string) {
	line := slices.Concat([]byte(`{"type":"`+what+`","object":`), o.data, []byte("}\n"))
	if len(c.events) >= keptEvents {
		half := len(c.events) / 2
		c.dropped = c.events[half-1].version
		c.events = append(make([]event, 0, keptEvents), c.events[half:]...)
	}
	c.events = append(c.events, event{o.version, o.namespace, line})
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *collection) get(key string) *object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects[key]
}

// create stores a new object; its status only when keepStatus.
func (c *collection) create(namespace, name, manager string, body []byte, keepStatus bool) (*object, *failure) {
	var whole, meta fields
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, invalid(err)
	}
	if err := json.Unmarshal(whole["metadata"], &meta); err != nil {
		return nil, invalid(err)
	}
	if name == "" {
		_ = json.Unmarshal(meta["name"], &name)
	}
	serial := version.Add(1)
	if name == "" {
		_ = json.Unmarshal(meta["generateName"], &name)
		name += strconv.FormatInt(serial, 10)
	}
	now := time.Now().UTC().Format(time.RFC3339)
	o := &object{
		namespace: namespace, name: name, created: now, generation: 1,
		uid:  fmt.Sprintf("0b5f7c5e-0000-4000-8000-%012d", serial),
		meta: meta, rest: whole,
	}
	if keepStatus || !c.kind.Status {
		o.status = canonical(whole["status"])
	}
	if c.kind.Established {
		o.status = established(whole["spec"])
	}
	for _, known := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"} {
		delete(meta, known)
	}
	for _, known := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(whole, known)
	}
	main := "data"
	if whole["spec"] != nil {
		main = "spec"
	}
	for part, value := range whole {
		whole[part] = canonical(value)
	}
	o.specFields = managed(c.kind, manager, main, "", now, whole[main])
	if o.status != nil {
		o.statusFields = managed(c.kind, manager, "status", "status", now, o.status)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects[o.key()] != nil {
		return nil, &failure{409, "AlreadyExists", "already exists"}
	}
	c.put(o, "ADDED")
	return o, nil
}

// established is the status of a CRD that serves.
func established(spec json.RawMessage) json.RawMessage {
	var crd struct{ Names json.RawMessage }
	_ = json.Unmarshal(spec, &crd)
	return json.RawMessage(`{"acceptedNames":` + string(crd.Names) + `,"conditions":[` +
		`{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}],"storedVersions":["v1"]}`)
}

// patch merges into an object: only its status, or all but its status.
func (c *collection) patch(key, manager string, body []byte, status bool) (*object, *failure) {
	var changes, meta fields
	if err := json.Unmarshal(body, &changes); err != nil {
		return nil, invalid(err)
	}
	if changes["metadata"] != nil {
		if err := json.Unmarshal(changes["metadata"], &meta); err != nil {
			return nil, invalid(err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.objects[key]
	if old == nil {
		return nil, notFound
	}
	var wanted string
	if json.Unmarshal(meta["resourceVersion"], &wanted) == nil && wanted != strconv.FormatInt(old.version, 10) {
		return nil, conflict
	}
	o := *old
	changed := false
	if patch := changes["status"]; patch != nil && (status || !c.kind.Status) {
		merged, err := merge(old.status, patch)
		if err != nil {
			return nil, invalid(err)
		}
		if changed = !bytes.Equal(merged, old.status); changed {
			o.status = merged
			o.statusFields = managed(c.kind, manager, "status", "status", time.Now().UTC().Format(time.RFC3339), merged)
		}
	}
	if !status {
		specChanged, metaChanged, err := mergeRest(&o, changes, meta)
		if err != nil {
			return nil, invalid(err)
		}
		if specChanged {
			o.generation++
		}
		changed = changed || specChanged || metaChanged
	}
	if !changed {
		return old, nil
	}
	c.put(&o, "MODIFIED")
	return &o, nil
}

func mergeRest(o *object, changes, meta fields) (specChanged, metaChanged bool, err error) {
	for _, known := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(meta, known)
	}
	for _, known := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(changes, known)
	}
	if len(meta) > 0 {
		o.meta = maps.Clone(o.meta)
		if metaChanged, err = mergeInto(o.meta, meta); err != nil {
			return false, false, err
		}
	}
	if len(changes) > 0 {
		o.rest = maps.Clone(o.rest)
		if specChanged, err = mergeInto(o.rest, changes); err != nil {
			return false, false, err
		}
	}
	return specChanged, metaChanged, nil
}

func (c *collection) remove(key string) (*object, *failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.objects[key]
	if old == nil {
		return nil, notFound
	}
	o := *old
	o.version = version.Add(1)
	o.render(c.kind)
	delete(c.objects, key)
	c.sorted = nil
	c.tell(&o, "DELETED")
	return &o, nil
}

// page returns up to limit objects (0: all) after a key, the next key to continue after, and the version of the state.
func (c *collection) page(namespace, after string, limit int) (found []*object, next string, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sorted == nil {
		c.sorted = slices.Sorted(maps.Keys(c.objects))
	}
	start := sort.Search(len(c.sorted), func(i int) bool { return c.sorted[i] > after })
	for _, key := range c.sorted[start:] {
		o := c.objects[key]
		if namespace != "" && o.namespace != namespace {
			continue
		}
		if limit > 0 && len(found) == limit {
			next = found[limit-1].key()
			break
		}
		found = append(found, o)
	}
	return found, next, version.Load()
}

// since returns the events after a version, and a channel that is closed at the next one; false when some are gone.
func (c *collection) since(after int64) ([]event, <-chan struct{}, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := sort.Search(len(c.events), func(i int) bool { return c.events[i].version > after })
	return c.events[start:len(c.events):len(c.events)], c.changed, after >= c.dropped
}

// canonical sorts keys, so that equal values are equal bytes.
func canonical(value json.RawMessage) json.RawMessage {
	if value == nil {
		return nil
	}
	var parsed any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if decoder.Decode(&parsed) != nil {
		return value
	}
	sorted, err := json.Marshal(parsed)
	if err != nil {
		return value
	}
	return sorted
}
