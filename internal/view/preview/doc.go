// Package preview makes the page of `tfrec preview`, which shows the contents of a set: images with
// label and key, boxes and masks of their objects, variants next to their original, class balance,
// sizes, features, shards and faults. It is one self-contained file, which looks the same from a
// disk as from a server.
//
//	report, err := preview.Write(ctx, []string{"out"}, "out.html", preview.Options{})
//
// All records are measured ([stats.Measure]), and some are shown: a random
// sample, spread evenly over the splits and their shards, the same for the same
// seed.
//
// # Untrusted text
//
// Labels, keys, features and options come from the data. They reach the page as text by
// html/template, shortened and with invisible characters, and those that change the direction of
// text, escaped ([shown]). A content security policy lets nothing run but the page's own script and
// style, by their hashes, and nothing load but data: images; those are encoded again, so that no
// byte of the data is an image's.
//
// # Size
//
// The page stays under [MaxPage] bytes whatever the data: images share a budget, and the more there
// are, the smaller they get; so do the texts of records; tables have a bounded number of rows and
// note how many they omit.
package preview
