// The load: writes widgets, watches them, and measures how long each takes until its status is what its spec asks for.
//
// It is told what to do by one JSON line at a time on stdin, and answers each with one JSON line on stdout:
//
//	{"op": "create", "n": 1000}                  create widgets, wait until all statuses agree
//	{"op": "fill", "n": 1000, "behind": true}    create widgets whose status agrees already, or (behind) does not; no wait
//	{"op": "update", "n": 1000}                  change the specs of all, wait
//	{"op": "stream", "rate": 100, "seconds": 10} change one after the other at that rate, wait
//	{"op": "touch"}                              change the last one; no wait
//	{"op": "wait"}                               wait for what is pending
//	{"op": "clear", "children": true}            delete all, and the config maps of their names
//
// Every command may have "timeout" (seconds to wait) and "workers" (writers at once). Latencies are seconds from before
// the write is sent until the watch has shown the status: both ends are seen here, by one clock.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type command struct {
	Op      string  `json:"op"`
	N       int     `json:"n"`
	Behind  bool    `json:"behind"`
	Kopf    bool    `json:"kopf"`
	Child   bool    `json:"children"`
	Rate    float64 `json:"rate"`
	Seconds float64 `json:"seconds"`
	Workers int     `json:"workers"`
	Timeout float64 `json:"timeout"`
}

type result struct {
	Written      int     `json:"written"`
	Agreed       int     `json:"agreed"`
	WriteSeconds float64 `json:"write_seconds"`
	Seconds      float64 `json:"seconds"`      // from the first write to the last status
	FirstStatus  float64 `json:"first_status"` // wall clock
	LastStatus   float64 `json:"last_status"`  // wall clock
	Lateness     float64 `json:"late_seconds"` // how far a stream fell behind its rate
	P50          float64 `json:"p50"`
	P99          float64 `json:"p99"`
	P999         float64 `json:"p999"`
	Max          float64 `json:"max"`
	Error        string  `json:"error,omitempty"`
}

func main() {
	api, err := newClient()
	if err != nil {
		log.Fatal(err)
	}
	board := newBoard()
	go watch(api, board)
	<-board.open
	input := bufio.NewScanner(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for input.Scan() {
		var c command
		if err := json.Unmarshal(input.Bytes(), &c); err != nil {
			log.Fatal(err)
		}
		if c.Workers == 0 {
			c.Workers = 16
		}
		if c.Timeout == 0 {
			c.Timeout = 60
		}
		_ = output.Encode(run(api, board, c))
	}
}

func run(api *client, board *board, c command) *result {
	board.begin(time.Now())
	var written result
	var wait bool
	names := board.names
	switch c.Op {
	case "create", "fill":
		created := make([]string, c.N)
		for i := range created {
			created[i] = fmt.Sprintf("bench-%06d", len(names)+i+1)
		}
		wait = c.Op == "create"
		written = each(created, c, func(name string) error {
			board.want(name, 1, time.Now())
			return api.create(widget(name, c.Op == "fill" && !c.Behind, c.Kopf))
		})
		board.names = append(names, created...)
	case "update":
		wait = true
		written = each(names[:min(c.N, len(names))], c, func(name string) error {
			return api.setRevision(name, board.next(name, time.Now()))
		})
	case "stream":
		wait = true
		written = stream(names, c, func(name string) error {
			return api.setRevision(name, board.next(name, time.Now()))
		})
	case "touch":
		name := names[len(names)-1]
		written = each([]string{name}, c, func(name string) error {
			return api.setRevision(name, board.next(name, time.Now()))
		})
	case "wait":
		wait = true
	case "clear":
		written = each(names, c, func(name string) error { return api.remove(name, c.Child) })
		board.forget()
	default:
		return &result{Error: "unknown op " + c.Op}
	}
	if wait {
		board.wait(time.Duration(c.Timeout * float64(time.Second)))
	}
	return board.report(written)
}

// each calls write for all names, c.Workers at a time.
func each(names []string, c command, write func(string) error) result {
	started := time.Now()
	var next, failed atomic.Int64
	var failure atomic.Value
	var group sync.WaitGroup
	for range min(c.Workers, len(names)) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				if err := write(names[i]); err != nil {
					failed.Add(1)
					failure.Store(err.Error())
				}
			}
		})
	}
	group.Wait()
	text, _ := failure.Load().(string)
	return result{Written: len(names) - int(failed.Load()), WriteSeconds: time.Since(started).Seconds(), Error: text}
}

// stream starts a write at each tick of the rate, whether or not those before it have ended.
func stream(names []string, c command, write func(string) error) result {
	started := time.Now()
	total := int(c.Rate * c.Seconds)
	var failed atomic.Int64
	var failure atomic.Value
	var group sync.WaitGroup
	late := 0.0
	slots := make(chan struct{}, 256)
	for i := range total {
		due := started.Add(time.Duration(float64(i) / c.Rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		slots <- struct{}{}
		late = max(late, time.Since(due).Seconds())
		group.Go(func() {
			if err := write(names[i%len(names)]); err != nil {
				failed.Add(1)
				failure.Store(err.Error())
			}
			<-slots
		})
	}
	group.Wait()
	text, _ := failure.Load().(string)
	return result{
		Written: total - int(failed.Load()), WriteSeconds: time.Since(started).Seconds(), Lateness: late, Error: text,
	}
}
