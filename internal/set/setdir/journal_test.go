package setdir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// began leaves the set in dir as a process does that is killed while it publishes staged files:
// with a journal, and the first moves done.
func began(t *testing.T, dir string, moved int) *setdir.Journal {
	t.Helper()
	d, err := setdir.OpenAsIs(t.Context(), dir, setdir.Options{})
	settest.Check(t, err)
	defer d.Close()
	m, err := d.Manifest()
	settest.Check(t, err)
	file := m.Splits[0].Shards[0].File
	j := &setdir.Journal{KeepState: true}
	for _, name := range []string{file, setdir.StateOf(file), manifest.File} {
		j.Moves = append(j.Moves, setdir.Move{From: setdir.StageDir + "/" + name, To: name})
	}
	settest.Check(t, j.Begin(d))
	for _, m := range j.Moves[:moved] {
		settest.Check(t, m.Apply(d))
	}
	return j
}

// Directories are untrusted: no journal or state in one makes a command touch files outside it, or
// files reached through links.
func TestHostileJournals(t *testing.T) {
	for name, j := range map[string]*setdir.Journal{
		"from a link":   {Moves: []setdir.Move{{From: "data/theirs", To: "a.tfrecord"}}},
		"to a link":     {Moves: []setdir.Move{{From: "mine", To: "data/theirs"}}},
		"remove a link": {Moves: []setdir.Move{{From: "mine", To: "a.tfrecord"}}, Remove: []string{"data/theirs"}},
		"from outside":  {Moves: []setdir.Move{{From: "../outside/theirs", To: "a.tfrecord"}}},
		"to outside":    {Moves: []setdir.Move{{From: "mine", To: "../outside/theirs"}}},
		"remove":        {Moves: []setdir.Move{{From: "mine", To: "a.tfrecord"}}, Remove: []string{"../outside/theirs"}},
	} {
		dir := settest.ThreeShards(t)
		outside := filepath.Join(filepath.Dir(dir), "outside")
		theirs := filepath.Join(outside, "theirs")
		settest.Check(t, os.Mkdir(outside, 0o755))
		settest.Check(t, os.WriteFile(theirs, []byte("theirs"), 0o644))
		settest.Check(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o644))
		if err := os.Symlink(outside, filepath.Join(dir, "data")); err != nil {
			t.Skip(err)
		}
		d, err := setdir.Open(t.Context(), dir, setdir.Options{})
		settest.Check(t, err)
		j.Format, j.Version = setdir.JournalFormat, setdir.JournalVersion
		settest.Check(t, d.State().PutFile(setdir.JournalFile, j))
		settest.Check(t, d.Close())
		_, err = shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
		if err == nil {
			t.Errorf("%s: taken", name)
		}
		if data, err := os.ReadFile(theirs); string(data) != "theirs" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// Readers do not complete the journal of another user: they read the old set.
func TestJournalsOfOthers(t *testing.T) {
	for _, links := range []bool{true, false} {
		dir := settest.ThreeShards(t)
		before := recordsIn(t, dir)
		settest.StageNext(t, dir)
		began(t, dir, 1)
		if err := os.Lchown(filepath.Join(dir, filepath.FromSlash(setdir.JournalFile)), 12345, -1); err != nil {
			t.Skip(err)
		}
		if !links {
			settest.Check(t, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(setdir.OldDir))))
			if _, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{}); err == nil || !strings.Contains(err.Error(), "repair.Clean completes it") {
				t.Errorf("without links: %v", err)
			}
		} else if got := recordsIn(t, dir); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("read %q, want %q", got, before)
		}
		if !settest.Has(t, dir, setdir.JournalFile) {
			t.Error("the journal is gone")
		}
		d, err := setdir.Open(t.Context(), dir, setdir.Options{}) // a writer completes it
		settest.Check(t, err)
		settest.Check(t, d.Close())
		if got := recordsIn(t, dir); settest.Has(t, dir, setdir.JournalFile) || got[0] != "another record" {
			t.Errorf("completed: %q", got)
		}
	}
}

// Staged files may be lost before a change is completed: an existing file of the same name must not
// be mistaken for one.
func TestStagedFilesThatAreLost(t *testing.T) {
	dir := settest.ThreeShards(t)
	settest.StageNext(t, dir)
	j := began(t, dir, 0)
	settest.Check(t, os.Remove(filepath.Join(dir, filepath.FromSlash(j.Moves[0].From))))
	longAgo := time.Now().Add(-time.Hour)
	settest.Check(t, os.Chtimes(filepath.Join(dir, j.Moves[0].To), longAgo, longAgo))
	if _, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{}); err == nil || !strings.Contains(err.Error(), "-00003, which was to become") {
		t.Errorf("%v", err)
	}
}

// Globs and single files also see one version of their set.
func TestGlobsCompleteChanges(t *testing.T) {
	for _, alone := range []bool{false, true} {
		dir := settest.ThreeShards(t)
		settest.StageNext(t, dir)
		j := began(t, dir, 1)
		path := filepath.Join(dir, "*.tfrecord*")
		if alone {
			path = filepath.Join(dir, j.Moves[0].To)
		}
		sources, err := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
		settest.Check(t, err)
		if settest.Has(t, dir, setdir.JournalFile) {
			t.Error("the change is not complete")
		}
		for _, s := range sources {
			if n := int64(len(settest.RecordsOf(t, s.Path))); n != s.Info.Records {
				t.Errorf("%s has %d records, the manifest says %d", s.Path, n, s.Info.Records)
			}
		}
	}
}

// Links left by a change that was not committed are not mistaken for those of the next one.
func TestLinksOfChangesThatWereNotBegun(t *testing.T) {
	t.Parallel()
	dir := settest.ThreeShards(t)
	settest.StageNext(t, dir)
	ctx := inject.With(t.Context(), func(op string) error {
		if op == "put" {
			return errors.New("disk full")
		}
		return nil
	})
	d, err := setdir.OpenAsIs(ctx, dir, setdir.Options{})
	settest.Check(t, err)
	defer d.Close()
	m, err := d.Manifest()
	settest.Check(t, err)
	if err := d.Staged().Publish([]string{m.Splits[0].Shards[0].File}, []string{manifest.File}, nil); err == nil {
		t.Fatal("begun")
	}
	if settest.Has(t, dir, setdir.OldDir) {
		t.Error("links are left")
	}
}

// During a change by a running writer, readers see the whole old set, including removed shards.
func TestOldSetsAreWhole(t *testing.T) {
	dir := settest.ThreeShards(t)
	before := recordsIn(t, dir)
	d, err := setdir.OpenAsIs(t.Context(), dir, setdir.Options{})
	settest.Check(t, err)
	defer d.Close()
	m, err := d.Manifest()
	settest.Check(t, err)
	gone := m.Splits[0].Shards[2].File
	m.Splits[0].Shards = m.Splits[0].Shards[:2]
	settest.PutManifest(t, d.Stage(), m)
	j := &setdir.Journal{KeepState: true, Remove: []string{gone}, Moves: []setdir.Move{{From: setdir.StageDir + "/" + manifest.File, To: manifest.File}}}
	settest.Check(t, j.Begin(d))
	settest.Check(t, j.Moves[0].Apply(d))
	settest.Check(t, d.Remove(gone))
	if got := recordsIn(t, dir); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("read %q, want %q", got, before)
	}
}

// A process that joins completes a change first, even if the process making it dies at that moment.
func TestJoiningBesideAChange(t *testing.T) {
	dir := settest.ThreeShards(t)
	for range 30 {
		settest.StageNext(t, dir)
		d, err := setdir.OpenAsIs(t.Context(), dir, setdir.Options{})
		settest.Check(t, err)
		j := &setdir.Journal{KeepState: true, Moves: []setdir.Move{{From: setdir.StageDir + "/" + manifest.File, To: manifest.File}}}
		settest.Check(t, j.Begin(d))
		dead := make(chan struct{})
		go func() {
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
			d.Close()
			close(dead)
		}()
		joined, err := setdir.Open(t.Context(), dir, setdir.Options{Join: true})
		if err == nil {
			if settest.Has(t, dir, setdir.JournalFile) {
				t.Error("joined with a journal")
			}
			settest.Check(t, joined.Close())
		} else if !errors.Is(err, shard.ErrBusy) {
			t.Error(err)
		}
		<-dead
		d, err = setdir.Open(t.Context(), dir, setdir.Options{})
		settest.Check(t, err)
		settest.Check(t, d.Close())
	}
}

// Readers concurrent with a writer that replaces a set repeatedly see one version each time, or an
// error that it was replaced.
func TestReadersBesideChanges(t *testing.T) {
	dir := t.TempDir()
	const shards = 50
	version := func(d *setdir.Dir, v int) {
		m := &manifest.Manifest{Format: manifest.Format, Version: manifest.Version, Fingerprint: fmt.Sprint("v", v), Splits: []manifest.Split{{Name: "train"}}}
		for i := range shards {
			file := fmt.Sprintf("a-train.tfrecord-%05d-of-%05d", i, shards)
			m.Splits[0].Shards = append(m.Splits[0].Shards, manifest.Shard{File: file})
			settest.Check(t, os.WriteFile(d.Join(file), []byte(m.Fingerprint), 0o644))
		}
		data, err := m.Encode()
		settest.Check(t, err)
		settest.Check(t, os.WriteFile(d.Join(manifest.File), data, 0o644))
	}
	d, err := setdir.Open(t.Context(), dir, setdir.Options{})
	settest.Check(t, err)
	version(d, 0)
	settest.Check(t, d.Close())
	stop, stopped := make(chan bool), make(chan error)
	go func() {
		for v := 1; ; v++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			d, err := setdir.Open(context.Background(), dir, setdir.Options{})
			if errors.Is(err, shard.ErrBusy) {
				continue // a reader is completing the change
			}
			if err == nil {
				err = os.MkdirAll(d.Join(setdir.StageDir), 0o755)
			}
			if err == nil {
				version(d.Stage(), v)
				j := &setdir.Journal{KeepState: true}
				for i := range shards {
					file := fmt.Sprintf("a-train.tfrecord-%05d-of-%05d", i, shards)
					j.Moves = append(j.Moves, setdir.Move{From: setdir.StageDir + "/" + file, To: file})
				}
				j.Moves = append(j.Moves, setdir.Move{From: setdir.StageDir + "/" + manifest.File, To: manifest.File})
				if err = j.Begin(d); err == nil && v%2 == 0 {
					err = j.Complete(d)
				}
				err = errors.Join(err, d.Close()) // or leave it to a reader
			}
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	whole := 0
	for began := time.Now(); time.Since(began) < 2*time.Second || whole == 0; {
		sources, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
		if err != nil {
			t.Error(err)
			break
		}
		mixed := false
		for _, s := range sources {
			data, err := os.ReadFile(s.Path)
			mixed = mixed || err != nil || string(data) != s.Set.Fingerprint
		}
		if shard.CheckUnchanged(t.Context(), sources) == nil {
			if mixed {
				t.Errorf("a mixture of versions was taken for %s", sources[0].Set.Fingerprint)
			}
			whole++
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
