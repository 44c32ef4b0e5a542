package verify

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestVerifyHoldsTFDSFilesAndLabelsToTheManifest(t *testing.T) {
	replace := func(file, old, now string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, file)
			data, err := os.ReadFile(path)
			settest.Check(t, err)
			if !bytes.Contains(data, []byte(old)) {
				t.Fatalf("%s has no %q", file, old)
			}
			settest.Check(t, os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(now), 1), 0o644))
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		file   string
		part   tfrecord.Part
		says   string
	}{
		{"another name", replace(manifest.TFDSInfoFile, `"name": "t"`, `"name": "u"`), manifest.TFDSInfoFile, tfrecord.PartCount, `name is "u"`},
		{"a wrong length", replace(manifest.TFDSInfoFile, `"12"`, `"13"`), manifest.TFDSInfoFile, tfrecord.PartCount, "split train: the record counts of its shards"},
		{"another split", replace(manifest.TFDSInfoFile, `"train"`, `"test"`), manifest.TFDSInfoFile, tfrecord.PartCount, "split train is missing"},
		{"other shards", replace(manifest.TFDSInfoFile, "{SPLIT}", "x"), manifest.TFDSInfoFile, tfrecord.PartCount, "does not make the shards' names"},
		{"no JSON", replace(manifest.TFDSInfoFile, "{", "["), manifest.TFDSInfoFile, tfrecord.PartParse, "repair or remove it"},
		{"another feature", replace(manifest.TFDSFeaturesFile, `"data"`, `"date"`), manifest.TFDSFeaturesFile, tfrecord.PartHeader, `feature "data"`},
		{"other labels", replace("label.labels.txt", "bee", "wasp"), "label.labels.txt", tfrecord.PartHeader, "label names"},
		{"no labels", func(t *testing.T, dir string) { settest.Check(t, os.Remove(filepath.Join(dir, "label.labels.txt"))) }, "label.labels.txt", tfrecord.PartMissing, "TFDS needs"},
		{"a wrong count", replace(manifest.File, `"bee": 4`, `"bee": 5`), "t-train.tfrecord-00000-of-00003", tfrecord.PartCount, `4 records with the label "bee", the manifest says 5`},
		{"a label that is not", replace(manifest.File, `"bee": 4,`, `"bee": 4, "cow": 1,`), "t-train.tfrecord-00000-of-00003", tfrecord.PartCount, `no records with the label "cow"`},
	} {
		dir := t.TempDir()
		settest.Labelled(t, dir, tfrecord.CompressionNone)
		if report, err := Files(t.Context(), []string{dir}, Options{}); err != nil || !report.OK {
			t.Fatal(err, report.Faults)
		}
		c.damage(t, dir)
		report, err := Files(context.Background(), []string{dir}, Options{})
		settest.Check(t, err)
		found := false
		for _, f := range report.Faults {
			found = found || filepath.Base(f.Path) == c.file && f.Part == c.part && strings.Contains(f.Message, c.says)
		}
		if !found || report.OK {
			t.Errorf("%s: %+v", c.name, report.Faults)
		}
	}
}

func TestVerifyNamesLabelsWithoutAName(t *testing.T) {
	dir := t.TempDir()
	m := settest.Labelled(t, dir, tfrecord.CompressionNone)
	m.Labels = m.Labels[:2]
	for i := range m.Splits[0].Shards {
		m.Splits[0].Shards[i].Labels = nil
	}
	d, err := setdir.Open(context.Background(), dir, setdir.Options{})
	settest.Check(t, err)
	settest.Check(t, d.PutSet(m))
	settest.Check(t, d.Close())
	report, err := Files(context.Background(), []string{dir}, Options{})
	settest.Check(t, err)
	if len(report.Faults) != 12 || report.Faults[0].Record != 2 || !strings.Contains(report.Faults[0].Message, `feature "label" is 2, but there are 2 label names`) {
		t.Errorf("%+v", report.Faults)
	}
}

func TestVerifyTellsWhatItCouldNotRead(t *testing.T) {
	dir := t.TempDir()
	m := settest.Labelled(t, dir, tfrecord.CompressionNone)
	file := filepath.Join(dir, m.Splits[0].Shards[1].File)
	settest.Check(t, os.Remove(file))
	settest.Check(t, os.Mkdir(file, 0o755)) // can be opened but not read
	report, err := Files(context.Background(), []string{dir}, Options{})
	if err == nil || report.OK || len(report.Errors) != 1 || !strings.Contains(report.Errors[0], filepath.Base(file)) {
		t.Errorf("%v: %+v", err, report)
	}
}
