package convert

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// Hundreds of workers, with -torture a thousand, two for each task of an array job, make one set in a
// distant store at the same time: its bytes are those of one machine, whatever fails, and the number
// of requests is bounded. All of them run on the clock of testing/synctest: an hour takes no time.
func TestThousandWorkers(t *testing.T) {
	workers, images := 300, 150
	if race.Enabled {
		workers, images = 60, 60
	} else if torture.On() {
		workers, images = 1000, 500
	}
	tasks := workers / 2
	src := directories(t, images)
	o := ImageOptions{Options: Options{Shards: tasks, Workers: 1}}
	local := t.TempDir()
	mustImages(t, src, local, o)
	want := contents(t, local)
	for _, seed := range torture.Seeds(1, 10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := &storagetest.Distant{Store: storagetest.New(), Seed: seed, Latency: 30 * time.Millisecond, Faults: 0.05, Stale: 0.1, Age: time.Second}
			for name, data := range contents(t, src) {
				d.Put("pets/"+name, []byte(data))
			}
			expireClaims(t, 4*time.Second, 12*time.Second)
			storage.Register("mem", func(context.Context, string) (storage.Store, error) { return d, nil })
			t.Cleanup(storage.Forget)
			synctest.Test(t, func(t *testing.T) {
				const out = "mem://store/sets/a"
				began := time.Now()
				var wait sync.WaitGroup
				random := rand.New(rand.NewPCG(seed, 1))
				for w := range workers {
					begins := time.Duration(random.Int64N(int64(5 * time.Second)))
					wait.Go(func() {
						time.Sleep(begins)
						if _, err := Images(t.Context(), "mem://store/pets", out, taskOf(o, w%tasks, tasks)); err != nil {
							t.Errorf("worker %d: %v", w, err)
						}
					})
				}
				wait.Wait()
				took := time.Since(began)
				time.Sleep(d.Age) // a list that lacks the last shards is refused as an unfinished set
				if _, err := Finalize(t.Context(), out, FinalizeOptions{}); err != nil {
					t.Fatal(err)
				}
				files, _ := inDirectory(d.Store)
				maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "pets/") })
				sameSet(t, files, want)
				nothingOfRuns(t, d.Store)
				requests, sum := d.Requests(), 0
				for _, n := range requests {
					sum += n
				}
				faults, stale := d.Harm()
				t.Logf("%d workers took %v: %d requests %v; %d failed, and %d lists were stale", workers, took.Round(time.Second), sum, requests, faults, stale)
				// Each lists the input, reads the plan, and makes a shard or finds it made: some 30
				// requests. Those that wait until there is a plan make up to three times as many.
				if most := 120 * workers; sum > most {
					t.Errorf("more than %d requests", most)
				}
				if faults < workers || stale < workers/20 || took > 5*time.Minute {
					t.Error("that is not what is simulated, or too slow")
				}
			})
		})
	}
}
