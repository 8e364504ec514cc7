// Prints the Go types that a Pod template consists of, as JSON: what `pod-template-hash` is computed of.
//
// Controllers hash the template as Go prints it: with the names of fields and types, private ones among them, in the
// order of their declaration. Run by hand when Kubernetes' version changes:
//
//	go run ./podtemplate > ../../src/kubewright/testing/workloads/podtemplate.json
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	core "k8s.io/api/core/v1"
	_ "k8s.io/client-go/kubernetes/scheme"
)

type described struct {
	Kind   string      `json:"kind"`
	Elem   string      `json:"elem,omitempty"`
	Fields [][3]string `json:"fields,omitempty"` // Go's name, JSON's name ("" for an embedded struct), type
}

var types = map[string]*described{}

// A type by name is `core/v1.Pod`; `*T`, `[]T` and `map[K]V` are made of others and not listed.
func id(t reflect.Type) string {
	if t.Name() != "" {
		parts := strings.Split(t.PkgPath(), "/")
		if len(parts) > 1 {
			return strings.Join(parts[len(parts)-2:], "/") + "." + t.Name()
		}
		return t.String()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + id(t.Elem())
	case reflect.Slice:
		return "[]" + id(t.Elem())
	case reflect.Map:
		return "map[" + id(t.Key()) + "]" + id(t.Elem())
	}
	return t.String()
}

func describe(t reflect.Type) string {
	name := id(t)
	// Read by hand in the other place: times are empty in a template, quantities and ports have two forms in JSON.
	if t.PkgPath() == "time" || strings.HasSuffix(t.PkgPath(), "api/resource") || t.Name() == "IntOrString" || name == "meta/v1.Time" {
		return name
	}
	if _, seen := types[name]; seen {
		return name
	}
	made := &described{Kind: t.Kind().String()}
	if t.PkgPath() != "" {
		types[name] = made
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		made.Elem = describe(t.Elem())
		if t.Kind() == reflect.Map {
			describe(t.Key())
		}
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			tag := strings.Split(f.Tag.Get("json"), ",")
			made.Fields = append(made.Fields, [3]string{f.Name, tag[0], describe(f.Type)})
		}
	}
	return name
}

func main() {
	describe(reflect.TypeOf(core.PodTemplateSpec{}))
	if err := json.NewEncoder(os.Stdout).Encode(types); err != nil {
		panic(err)
	}
}
