package shard

import (
	"context"
	"strings"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// Check returns the faults of a set as a whole: contradictions in the manifest, and files in its
// directory that look as if they belonged to it.
func (s *Set) Check(ctx context.Context) ([]Fault, error) {
	var faults []Fault
	for _, err := range contradictions(s.Manifest) {
		faults = append(faults, FileFault(s.Path(manifest.File), tfrecord.PartCount, "%v", err))
	}
	named := make(map[string]bool)
	for _, split := range s.Splits {
		for _, info := range split.Shards {
			named[info.File] = true
		}
	}
	extra, err := s.extra(ctx, "", named, func(name string) string {
		if tfrecordName(name) && !Describes(name) {
			return name
		}
		return ""
	})
	if err != nil {
		return faults, err
	}
	faults = append(faults, extra...)
	// The index of a shard that is not part of the set would mislead globs.
	extra, err = s.extra(ctx, manifest.IndexDir, named, func(name string) string {
		shard, ok := strings.CutSuffix(name, ".idx")
		if n, mine := ParseName(shard); ok && mine && n.Dataset == s.Name {
			return shard
		}
		return ""
	})
	if storage.Missing(err) {
		err = nil
	}
	return append(faults, extra...), err
}

// contradictions returns those that Check finds in a manifest.
func contradictions(m *manifest.Manifest) []error {
	err := m.Check()
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return nil
}

// extra returns a fault for each file of a directory of the set that belongs to a shard, according
// to shardOf, that the manifest does not list.
func (s *Set) extra(ctx context.Context, dir string, named map[string]bool, shardOf func(name string) string) ([]Fault, error) {
	at := s.location().Join(dir)
	entries, err := at.ReadDir(ctx)
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, entry := range entries {
		if shard := shardOf(entry.Name()); shard != "" && !named[shard] && !entry.IsDir() {
			path := at.Join(entry.Name()).Path()
			faults = append(faults, FileFault(path, tfrecord.PartExtra, "the manifest does not name %s", shard))
		}
	}
	return faults, nil
}
