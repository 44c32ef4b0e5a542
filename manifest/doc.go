// Package manifest describes a set of shards: its splits and shards, the features of its records,
// its label names, and the options that it was made with. It reads and writes manifest.json, and
// writes the files by which TensorFlow Datasets opens the set.
//
//	m, err := manifest.Read(ctx, filepath.Join("birds", manifest.File))
//	for _, split := range m.Splits {
//		fmt.Println(split.Name, split.Records, len(split.Shards))
//	}
//	for _, f := range m.Features {
//		fmt.Println(f.Key, f.Kind, f.Shape)
//	}
//
// A manifest is untrusted input: Read decodes it in a stream, within limits, and rejects names
// outside the directory of the set. Package shard checks the directory against the manifest.
package manifest
