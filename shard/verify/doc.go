// Package verify checks TFRecord files and sets of them:
//
//	report, err := verify.Verify(ctx, []string{"birds"}, verify.VerifyOptions{})
//	for _, fault := range report.Faults {
//		fmt.Println(fault.Path, fault.Record, fault.Offset, fault.Message)
//	}
//
// Every record's framing and checksums are read, and a set is compared with its manifest, its
// indexes and TFDS's files. With VerifyOptions.Deep the records are decoded, too: images, labels,
// features that differ from the schema, and duplicates, also between splits and of similar images.
// VerifyOptions.Sample reads only some of the records.
//
// Faults in the data are not an error: they are in the report. An error means that something could
// not be checked.
package verify
