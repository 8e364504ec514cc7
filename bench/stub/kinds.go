package main

import (
	"fmt"
	"strings"
)

type kind struct {
	Group, Version, Kind, Plural string
	Namespaced, Status           bool
	Established                  bool // gets the status of a CRD that serves
}

func (k *kind) apiVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

func (k *kind) path() string {
	if k.Group == "" {
		return "/api/" + k.Version
	}
	return "/apis/" + k.Group + "/" + k.Version
}

func kinds(extra int) []*kind {
	found := []*kind{
		{Version: "v1", Kind: "Namespace", Plural: "namespaces"},
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true},
		{Version: "v1", Kind: "Event", Plural: "events", Namespaced: true},
		{Group: "events.k8s.io", Version: "v1", Kind: "Event", Plural: "events", Namespaced: true},
		{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Plural: "leases", Namespaced: true},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition",
			Plural: "customresourcedefinitions", Status: true, Established: true},
		{Group: "bench.example.com", Version: "v1", Kind: "Widget", Plural: "widgets", Namespaced: true, Status: true},
	}
	for number := range extra {
		name := fmt.Sprintf("Gadget%d", number+1)
		found = append(found, &kind{Group: "bench.example.com", Version: "v1", Kind: name,
			Plural: strings.ToLower(name) + "s", Namespaced: true, Status: true})
	}
	return found
}

type apiResource struct {
	Name         string   `json:"name"`
	SingularName string   `json:"singularName"`
	Namespaced   bool     `json:"namespaced"`
	Kind         string   `json:"kind"`
	Verbs        []string `json:"verbs"`
}

var (
	verbs       = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	statusVerbs = []string{"get", "patch", "update"}
)

// resourceList is the answer to GET /apis/<group>/<version>.
func resourceList(kinds []*kind, path string) any {
	var resources []apiResource
	groupVersion := ""
	for _, k := range kinds {
		if k.path() != path {
			continue
		}
		groupVersion = k.apiVersion()
		resources = append(resources, apiResource{k.Plural, strings.ToLower(k.Kind), k.Namespaced, k.Kind, verbs})
		if k.Status {
			resources = append(resources, apiResource{k.Plural + "/status", "", k.Namespaced, k.Kind, statusVerbs})
		}
	}
	if resources == nil {
		return nil
	}
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion, "resources": resources}
}

// groupList is the answer to GET /apis.
func groupList(kinds []*kind) any {
	var groups []any
	seen := map[string]bool{"": true}
	for _, k := range kinds {
		if seen[k.Group] {
			continue
		}
		seen[k.Group] = true
		groups = append(groups, group(k))
	}
	return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
}

func group(k *kind) map[string]any {
	version := map[string]string{"groupVersion": k.apiVersion(), "version": k.Version}
	return map[string]any{"name": k.Group, "versions": []any{version}, "preferredVersion": version}
}

// aggregated is the answer to GET /api or /apis for who accepts aggregated discovery.
func aggregated(kinds []*kind, legacy bool) any {
	items := []any{}
	var order []string
	resources := map[string][]any{}
	for _, k := range kinds {
		if (k.Group == "") != legacy {
			continue
		}
		if resources[k.Group] == nil {
			order = append(order, k.Group)
		}
		scope := "Cluster"
		if k.Namespaced {
			scope = "Namespaced"
		}
		response := map[string]string{"group": k.Group, "version": k.Version, "kind": k.Kind}
		resource := map[string]any{"resource": k.Plural, "responseKind": response, "scope": scope,
			"singularResource": strings.ToLower(k.Kind), "verbs": verbs}
		if k.Status {
			resource["subresources"] = []any{map[string]any{
				"subresource": "status", "responseKind": response, "verbs": statusVerbs}}
		}
		resources[k.Group] = append(resources[k.Group], resource)
	}
	for _, name := range order {
		items = append(items, map[string]any{
			"metadata": map[string]any{"name": name, "creationTimestamp": nil},
			"versions": []any{map[string]any{"version": "v1", "freshness": "Current", "resources": resources[name]}},
		})
	}
	return map[string]any{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
		"metadata": map[string]any{}, "items": items}
}
