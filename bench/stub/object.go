package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

type fields = map[string]json.RawMessage

// object is one state of an object, in the parts that writes replace; it never changes. data is the whole as sent.
type object struct {
	namespace, name, uid, created string
	version, generation           int64
	meta                          fields // what else the writer put into metadata
	rest                          fields // spec, data, ...: all but apiVersion, kind, metadata and status
	status                        json.RawMessage
	specFields, statusFields      json.RawMessage // entries of managedFields, as a real server adds them
	data                          []byte
}

func (o *object) key() string { return o.namespace + "/" + o.name }

// render fills data, with keys in the order of Go's encoder.
func (o *object) render(kind *kind) {
	var b bytes.Buffer
	b.Grow(4096)
	b.WriteString(`{"apiVersion":"` + kind.apiVersion() + `","kind":"` + kind.Kind + `","metadata":`)
	meta := make(fields, len(o.meta)+8)
	for name, value := range o.meta {
		meta[name] = value
	}
	meta["creationTimestamp"] = quoted(o.created)
	meta["name"] = quoted(o.name)
	meta["uid"] = quoted(o.uid)
	meta["resourceVersion"] = quoted(strconv.FormatInt(o.version, 10))
	if o.namespace != "" {
		meta["namespace"] = quoted(o.namespace)
	}
	if o.generation > 0 {
		meta["generation"] = strconv.AppendInt(nil, o.generation, 10)
	}
	managed := [][]byte{o.specFields}
	if o.statusFields != nil {
		managed = append(managed, o.statusFields)
	}
	meta["managedFields"] = slices.Concat([]byte("["), bytes.Join(managed, []byte(",")), []byte("]"))
	writeFields(&b, meta)
	for _, name := range sortedNames(o.rest) {
		b.WriteString(`,"` + name + `":`)
		b.Write(o.rest[name])
	}
	if o.status != nil {
		b.WriteString(`,"status":`)
		b.Write(o.status)
	}
	b.WriteByte('}')
	o.data = b.Bytes()
}

func writeFields(b *bytes.Buffer, values fields) {
	b.WriteByte('{')
	for number, name := range sortedNames(values) {
		if number > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(name))
		b.WriteByte(':')
		b.Write(values[name])
	}
	b.WriteByte('}')
}

func sortedNames(values fields) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func quoted(text string) json.RawMessage { return strconv.AppendQuote(nil, text) }

// managed is an entry of managedFields that owns all of value below the given name.
func managed(kind *kind, manager, name, subresource, time string, value json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"apiVersion":%q,"fieldsType":"FieldsV1","fieldsV1":{"f:%s":`, kind.apiVersion(), name)
	ownership(&b, value)
	fmt.Fprintf(&b, `},"manager":%q,"operation":"Update"`, manager)
	if subresource != "" {
		fmt.Fprintf(&b, `,"subresource":%q`, subresource)
	}
	fmt.Fprintf(&b, `,"time":%q}`, time)
	return b.Bytes()
}

func ownership(b *bytes.Buffer, value json.RawMessage) {
	var below fields
	if !isMap(value) || json.Unmarshal(value, &below) != nil {
		b.WriteString("{}")
		return
	}
	b.WriteString(`{".":{}`)
	for _, name := range sortedNames(below) {
		b.WriteString(`,"f:` + name + `":`)
		ownership(b, below[name])
	}
	b.WriteByte('}')
}

func isMap(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }

// merge is RFC 7386. The result is the target itself where nothing changes.
func merge(target, patch json.RawMessage) (json.RawMessage, error) {
	if !isMap(patch) {
		return patch, nil
	}
	var changes, values fields
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	if isMap(target) {
		if err := json.Unmarshal(target, &values); err != nil {
			return nil, err
		}
	}
	if values == nil {
		values = fields{}
	}
	changed, err := mergeInto(values, changes)
	if err != nil || (!changed && isMap(target)) {
		return target, err
	}
	var b bytes.Buffer
	writeFields(&b, values)
	return b.Bytes(), nil
}

func mergeInto(values, changes fields) (changed bool, err error) {
	for name, change := range changes {
		before, present := values[name]
		if string(change) == "null" {
			changed = changed || present
			delete(values, name)
			continue
		}
		after, err := merge(before, change)
		if err != nil {
			return false, err
		}
		if !present || !bytes.Equal(before, after) {
			values[name] = after
			changed = true
		}
	}
	return changed, nil
}
