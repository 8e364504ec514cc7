// The benchmark's operator on controller-runtime: typed, reads from the cache, 16 workers, no client-side rate limit.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const workers = 16

type reconciler struct {
	client.Client
	children bool
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var widget Widget
	if err := r.Get(ctx, request.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.children {
		if err := r.applyChild(ctx, &widget); err != nil {
			return ctrl.Result{}, err
		}
	}
	if widget.Status.Revision == widget.Spec.Revision {
		return ctrl.Result{}, nil
	}
	before := widget.DeepCopy()
	widget.Status.Revision = widget.Spec.Revision
	widget.Status.Summary = fmt.Sprintf("%d settings", len(widget.Spec.Settings))
	err := r.Status().Patch(ctx, &widget, client.MergeFrom(before))
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// applyChild applies the ConfigMap of a widget unless the cache shows it as it should be.
func (r *reconciler) applyChild(ctx context.Context, widget *Widget) error {
	revision := strconv.FormatInt(widget.Spec.Revision, 10)
	var child corev1.ConfigMap
	err := r.Get(ctx, client.ObjectKeyFromObject(widget), &child)
	if err == nil && child.Data["revision"] == revision {
		return nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	owner := metav1ac.OwnerReference().
		WithAPIVersion(groupVersion.String()).WithKind("Widget").
		WithName(widget.Name).WithUID(widget.UID).
		WithController(true).WithBlockOwnerDeletion(true)
	wanted := corev1ac.ConfigMap(widget.Name, widget.Namespace).
		WithOwnerReferences(owner).
		WithData(map[string]string{"revision": revision})
	return r.Apply(ctx, wanted, client.FieldOwner("bench-go"), client.ForceOwnership)
}

func run() error {
	children := flag.Bool("children", false, "apply and own one ConfigMap for each widget")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := addToScheme(scheme); err != nil {
		return err
	}
	config := ctrl.GetConfigOrDie()
	config.QPS = -1 // no client-side rate limit
	config.UserAgent = "bench-go"
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	builder := ctrl.NewControllerManagedBy(manager).
		For(&Widget{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers})
	if *children {
		builder = builder.Owns(&corev1.ConfigMap{})
	}
	if err := builder.Complete(&reconciler{manager.GetClient(), *children}); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
