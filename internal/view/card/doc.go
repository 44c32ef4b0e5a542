// Package card describes a set for those who find it on a hub or in an archive: as README.md, the
// dataset card of Hugging Face with its header in YAML, and as croissant.json, the metadata of
// MLCommons Croissant 1.1.
//
//	c := &card.Card{Manifest: set.Manifest, Facts: card.Facts{License: "CC-BY-4.0"}}
//	files, err := c.Files()
//	results, err := card.Write(ctx, dir, files, card.WriteOptions{})
//
// Everything comes from the manifest, from what the caller states in Facts, and from the schema of
// exported Parquet files. The files contain neither times nor absolute paths, so the same set has
// the same card everywhere.
//
// Names of features, labels, splits and files are untrusted text: the header quotes them, and in
// Markdown they are never markup. Tables have at most 1,000 rows.
package card
