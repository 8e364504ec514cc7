package main

import (
	"slices"
	"sync"
	"time"
)

type row struct {
	wanted, seen int64
	at           time.Time // when the wanted revision was sent
}

// board knows for each widget which revision was asked for, and when its status came to agree.
type board struct {
	mu        sync.Mutex
	rows      map[string]*row
	pending   int
	latencies []float64
	began     time.Time
	first     time.Time
	last      time.Time
	agreed    chan struct{}
	open      chan struct{}
	names     []string // only of the goroutine that runs commands
}

func newBoard() *board {
	return &board{rows: map[string]*row{}, agreed: make(chan struct{}, 1), open: make(chan struct{})}
}

func (b *board) begin(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latencies, b.began, b.first, b.last = nil, now, time.Time{}, time.Time{}
}

func (b *board) want(name string, revision int64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rows[name]
	if r == nil {
		r = &row{}
		b.rows[name] = r
	}
	if r.wanted == r.seen {
		b.pending++
		r.at = now // what is still pending keeps its time: it has waited since then
	}
	r.wanted = revision
}

func (b *board) next(name string, now time.Time) int64 {
	b.mu.Lock()
	revision := b.rows[name].wanted + 1
	b.mu.Unlock()
	b.want(name, revision, now)
	return revision
}

func (b *board) saw(name string, status int64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rows[name]
	if r == nil || r.seen == status {
		return
	}
	was := r.seen == r.wanted
	r.seen = status
	if was || status != r.wanted {
		return
	}
	if b.first.IsZero() {
		b.first = now
	}
	b.last = now
	b.latencies = append(b.latencies, now.Sub(r.at).Seconds())
	if b.pending--; b.pending == 0 {
		select {
		case b.agreed <- struct{}{}:
		default:
		}
	}
}

func (b *board) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows, b.pending, b.names = map[string]*row{}, 0, nil
}

func (b *board) wait(timeout time.Duration) {
	deadline := time.After(timeout)
	for {
		b.mu.Lock()
		done := b.pending == 0
		b.mu.Unlock()
		if done {
			return
		}
		select {
		case <-b.agreed:
		case <-deadline:
			return
		}
	}
}

func (b *board) report(written result) *result {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := written
	sorted := slices.Sorted(slices.Values(b.latencies))
	r.Agreed = len(sorted)
	if len(sorted) == 0 {
		return &r
	}
	at := func(share float64) float64 { return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)] }
	r.P50, r.P99, r.P999, r.Max = at(0.5), at(0.99), at(0.999), sorted[len(sorted)-1]
	r.Seconds = b.last.Sub(b.began).Seconds()
	r.FirstStatus = float64(b.first.UnixNano()) / 1e9
	r.LastStatus = float64(b.last.UnixNano()) / 1e9
	return &r
}
