// Prints the Go types of the built-in kinds as JSON: what the API server decodes requests into.
//
// The OpenAPI documents do not say how Go reads and writes a field: which empty values are left out, what a type is
// called in an error, how patches merge lists, which number a field has in protobuf. The types themselves do. Run by
// hand, when `kubewright.apiserver.builtin.make` is:
//
//	go run . > gotypes.json
package main

import (
	"encoding"
	"encoding/json"
	"os"
	"reflect"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type field struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Omit     string `json:"omit,omitempty"`
	Inline   bool   `json:"inline,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	Key      string `json:"key,omitempty"`
	Protobuf string `json:"protobuf,omitempty"`
}

type described struct {
	Kind    string  `json:"kind"`
	Said    string  `json:"said"`
	Elem    string  `json:"elem,omitempty"`
	Custom  bool    `json:"custom,omitempty"`
	Zeroer  bool    `json:"zeroer,omitempty"`
	Fields  []field `json:"fields,omitempty"`
	Message bool    `json:"message,omitempty"`
}

var (
	types       = map[string]*described{}
	unmarshaler = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()
	texts       = reflect.TypeOf((*encoding.TextUnmarshaler)(nil)).Elem()
	message     = reflect.TypeOf((*interface{ Unmarshal([]byte) error })(nil)).Elem()
	zeroer      = reflect.TypeOf((*interface{ IsZero() bool })(nil)).Elem()
)

func id(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		return t.PkgPath() + "." + t.Name()
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
	if _, seen := types[name]; seen {
		return name
	}
	made := &described{Kind: t.Kind().String(), Said: t.String()}
	types[name] = made
	pointer := reflect.PointerTo(t)
	made.Custom = t.Kind() != reflect.Pointer && (pointer.Implements(unmarshaler) || pointer.Implements(texts))
	made.Message = t.Kind() != reflect.Pointer && pointer.Implements(message)
	made.Zeroer = t.Implements(zeroer) || (t.Kind() != reflect.Pointer && pointer.Implements(zeroer))
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		made.Elem = describe(t.Elem())
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			tag := strings.Split(f.Tag.Get("json"), ",")
			if tag[0] == "-" {
				continue
			}
			one := field{Name: tag[0], Type: describe(f.Type), Strategy: f.Tag.Get("patchStrategy"),
				Key: f.Tag.Get("patchMergeKey"), Protobuf: f.Tag.Get("protobuf")}
			for _, option := range tag[1:] {
				switch option {
				case "omitempty", "omitzero":
					one.Omit += option + " "
				case "inline":
					one.Inline = true
				}
			}
			one.Omit = strings.TrimSpace(one.Omit)
			if one.Name == "" {
				if f.Anonymous {
					one.Inline = true
				} else {
					one.Name = f.Name
				}
			}
			made.Fields = append(made.Fields, one)
		}
	}
	return name
}

func main() {
	s := scheme.Scheme
	for _, add := range []func(*runtime.Scheme) error{apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	kinds := map[string]string{}
	for gvk, t := range s.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		kinds[gvk.GroupVersion().String()+" "+gvk.Kind] = describe(t)
	}
	describe(reflect.TypeOf(metav1.Status{}))
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	sort.Strings(names)
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	if err := out.Encode(map[string]any{"kinds": kinds, "types": types}); err != nil {
		panic(err)
	}
}
