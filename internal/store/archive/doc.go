// Package archive lists the members of tar and zip archives, and reads members where they are,
// without unpacking.
//
//	a, err := archive.Open(ctx, storage.Parse("photos.tar"), false)
//	err = a.Walk(ctx, func(m *archive.Member) error {
//		key, err := archive.Key(m.Name)
//		positions[key] = m.Position
//		return err
//	})
//	data, err := a.Read(ctx, positions["daisy/1.jpg"], nil)
//
// Archives are tar files (ustar, PAX, GNU), plain or compressed with gzip or zstd, and zip files
// (stored or deflated members, zip64), on disk or in object stores. A compressed tar has no
// positions: its members are read while it is walked.
//
// Archives are hostile input. Names, sizes and types are reported as the archive has them; check
// them with Key and MaxMember. A fault of an archive itself, such as a cut file or a wrong
// checksum, is an error with its path and the offset.
package archive
