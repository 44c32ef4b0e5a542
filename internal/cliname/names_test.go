package cliname

import "testing"

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"nothing to reword": "nothing to reword",
		"EncodeSpec.Format: keep stores images unchanged":                  "--encode: keep stores images unchanged",
		"give the same, another directory, or Options.Overwrite":           "give the same, another directory, or --overwrite",
		"a smaller buffer (ShuffleOptions.Buffer), CSVOptions.Vectors; on": "a smaller buffer (--shuffle), --vector; on",
		"run the rest, then convert.Finalize":                              "run the rest, then tfrec finalize",
		"once (convert.Images with ImageOptions.Resize)":                   "once (tfrec convert images --resize)",
		"ImageOptions.Backend with ImageOptions.BackendDecodes does":       "--gpu on --gpu-decode does",
		"convert.Images or convert.CSV, with Options.Task":                 "tfrec convert images or tfrec convert csv, with --task",
		"convert.Images with care":                                         "tfrec convert images with care",
		"reshape.DropFeatures.keys: no feature":                            "--keys: no feature",
		"drop it (reshape.DropFeatures) first":                             "drop it (tfrec features drop) first",
		"repair.Adopt /data/set completes it":                              "tfrec adopt /data/set completes it",
		"it ends with Options.Seed":                                        "it ends with --seed",
		"photos with Options.Seed with Options.Name with x.Y":              "photos with --seed --name with x.Y",
		"\tOptions.Seed\nOptions.Name":                                     "\t--seed\n--name",

		// Not ours, and the user's own names.
		"tf.train.Example and Options.Nothing and seed.Options":     "tf.train.Example and Options.Nothing and seed.Options",
		"open dir/Options.Seed: no such file":                       "open dir/Options.Seed: no such file",
		"open Options.Seed.jpg and Options.Seed/x: no such file":    "open Options.Seed.jpg and Options.Seed/x: no such file",
		`there is no feature "Options.Seed"; there are "x.Options"`: `there is no feature "Options.Seed"; there are "x.Options"`,
		`label "my Options.Seed" of "convert.Images"; Options.Seed`: `label "my Options.Seed" of "convert.Images"; --seed`,
		`"a \" Options.Seed", Options.Seed or "Options.Seed`:        `"a \" Options.Seed", --seed or "Options.Seed`,
		`in my Options.Seed\x, Options.Seed`:                        `in my Options.Seed\x, --seed`,
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Arguments stay as they are, and so do the directories in them.
func TestKeep(t *testing.T) {
	defer kept.Store(nil)
	Keep([]string{"cat", "my Options.Seed/none.tfrecord", "--table=convert.Images", "./a Options.Name/b convert.Finalize/", "out", "--seed", "3"})
	for text, want := range map[string]string{
		"stat my Options.Seed/none.tfrecord: Options.Seed, Options.Name":   "stat my Options.Seed/none.tfrecord: --seed, --name",
		"directory my Options.Seed does not exist either":                  "directory my Options.Seed does not exist either",
		"/tmp/my Options.Seed is not a directory (Options.Seed)":           "/tmp/my Options.Seed is not a directory (--seed)",
		"convert.Images: no such file: convert.Finalize makes it":          "convert.Images: no such file: tfrec finalize makes it",
		"a Options.Name/b convert.Finalize: is a directory: Options.Name.": "a Options.Name/b convert.Finalize: is a directory: --name.",
		"a Options.Name: Options.Name":                                     "a Options.Name: --name",
		"out exists: Options.Overwrite":                                    "out exists: --overwrite",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	const in = `{"name":"Options.Seed","message":"say \"my Options.Seed\" <b> or Options.Seed","notes":["Options.Name","a] Options.Seed"],` +
		`"messages":{"Options.Seed":1},"labels":["Options.Seed"],"bottleneck":"Options.Workers","reason":""}`
	const want = `{"name":"Options.Seed","message":"say \"my Options.Seed\" <b> or --seed","notes":["--name","a] --seed"],` +
		`"messages":{"Options.Seed":1},"labels":["Options.Seed"],"bottleneck":"--workers","reason":""}`
	if got := string(JSON([]byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
