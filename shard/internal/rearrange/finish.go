package rearrange

import (
	"context"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/transfer"
	"github.com/tfrec/tfrec/tfrecord"
)

// Finish writes the metadata of the sets, the manifests last.
func (r *Run) Finish(ctx context.Context) error {
	described, err := r.describe()
	if err != nil {
		return err
	}
	if r.In.Remapped {
		r.Report.LabelsRemapped = true
		names := len(described.Labels)
		if described.LabelMap && slices.Contains(described.Labels, "") {
			names-- // id 0 has none
		}
		r.note("the inputs' lists of label names differ: label ids were changed to those of all %d names in sorted order", names)
	}
	if err := r.nameDescribing(described); err != nil {
		return err
	}
	for first := 0; first < len(r.Targets); {
		behind := first + 1
		for behind < len(r.Targets) && r.Targets[behind].Sub == r.Targets[first].Sub {
			behind++
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := r.finishSet(*described, r.Targets[first:behind], behind == len(r.Targets)); err != nil {
			return err
		}
		first = behind
	}
	return setdir.Forget(r.Dir)
}

// finishSet writes the metadata of one set. last is true for the last set.
func (r *Run) finishSet(m manifest.Manifest, targets []transfer.Target, last bool) error {
	all := newListHash("tfrec.set")
	for _, t := range targets {
		split := manifest.Split{Name: t.Split, Shards: t.Infos}
		for i := range split.Shards {
			info := &split.Shards[i]
			if manifest.LabelKeys(m.Features) == nil {
				info.Labels = nil // counted before rewriting
			}
			info.Fingerprint = newListHash("tfrec.reshape", info.File, r.Verb.Name, info.SHA256).String()
			all.add(info.File, info.Fingerprint)
			split.Records += info.Records
			r.Report.Bytes += info.Bytes
			r.Report.Shards++
		}
		if len(split.Shards) == 0 {
			continue
		}
		m.Splits = append(m.Splits, split)
		sum := r.Report.Splits[t.Split]
		r.Report.Splits[t.Split] = shard.SplitSummary{Records: sum.Records + split.Records, Shards: sum.Shards + len(split.Shards)}
		r.Report.Records += split.Records
	}
	if len(m.Splits) == 0 {
		if last {
			return r.putFinished()
		}
		return nil
	}
	m.Fingerprint = all.String()
	dir := targets[0].Dir
	if group, ok := strings.CutSuffix(targets[0].Sub, "/"); ok {
		if r.Report.Groups == nil {
			r.Report.Groups = map[string]int64{}
		}
		for _, s := range m.Splits {
			r.Report.Groups[group] += s.Records
		}
	}
	if err := dir.SyncNames(); err != nil {
		return err
	}
	if err := r.record(&m, targets[0].Sub, dir); err != nil {
		return err
	}
	if last {
		if err := r.putFinished(); err != nil {
			return err
		}
	}
	if err := dir.PutSet(&m); err != nil {
		return err
	}
	if dir != r.Dir {
		return setdir.ForgetSub(dir)
	}
	return nil
}

// describe returns the manifest's description of the records.
func (r *Run) describe() (*manifest.Manifest, error) {
	m := r.In.Described
	if !r.In.Known {
		total := r.Scans.Total()
		for _, sentence := range total.Notes() {
			r.note("%s", sentence)
		}
		records, features, odd := total.Describe()
		if records != manifest.RecordExample {
			m.Records, m.Features, m.Supervised = "", nil, nil
			r.note("not all records are tf.train.Examples: the manifest describes no features")
		} else {
			for i, f := range features {
				if f.Key == r.In.BareLabel && f.Kind == "int64" && (f.Class == manifest.ClassScalar || m.LabelMap) {
					features[i].Class = manifest.ClassLabel
				}
			}
			if len(m.Features) > 0 {
				var err error
				if features, err = source.RefineFeatures(m.Features, features); err != nil {
					return nil, err
				}
			}
			m.Records, m.Features = records, features
			if len(odd) > 0 {
				r.note("features %s have values of several kinds, or none: the manifest does not describe them", plural.Quoted(odd, len(odd)))
			}
		}
	}
	m.Format, m.Version, m.Tool = manifest.Format, manifest.Version, build.Tool
	m.Name, m.Options, m.Seed = r.Name, r.recorded, r.Options.Seed
	m.Compression = r.Compression.String()
	if m.Features == nil {
		m.Features = []manifest.Feature{}
	}
	if r.Verb.Describe != nil {
		if err := r.Verb.Describe(&m); err != nil {
			return nil, err
		}
	}
	if manifest.LabelKeys(m.Features) == nil || m.Labels == nil {
		m.Labels, m.LabelMap = []string{}, false
	}
	if m.Compression != tfrecord.CompressionNone.String() && m.Records == manifest.RecordExample {
		r.note("no metadata for TFDS: it cannot read %s shards", m.Compression)
	}
	return &m, nil
}
