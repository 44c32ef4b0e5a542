// Package verify checks TFRecord files and sets of them:
//
//	report, err := verify.Files(ctx, []string{"birds"}, verify.Options{})
//	for _, fault := range report.Faults {
//		fmt.Println(fault.Path, fault.Record, fault.Offset, fault.Message)
//	}
//
// Every record's framing and checksums are checked, and a set is compared with its manifest, its
// indexes and TFDS's files. With Options.Deep the content of records is checked too: images, objects,
// labels, features that do not match the schema, and duplicates, including similar images and
// duplicates across splits. Options.Sample reads only some of the records.
//
// Faults in the data are not an error: they are in the report. An error means that something could
// not be checked.
package verify
