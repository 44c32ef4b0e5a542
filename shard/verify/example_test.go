package verify_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// Verify a record file before and after flipping a bit in its second record.
func ExampleFiles() {
	temp, err := os.MkdirTemp("", "verify-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	path := filepath.Join(temp, "birds.tfrecord")
	data := tfrecord.AppendFrame(nil, []byte("heron"))
	data = tfrecord.AppendFrame(data, []byte("stork"))

	for range 2 {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			log.Fatal(err)
		}
		report, err := verify.Files(context.Background(), []string{path}, verify.Options{})
		if err != nil {
			log.Fatal(err) // something could not be read; faults are in the report
		}
		fmt.Println(report.OK, report.Records)
		for _, fault := range report.Faults {
			fmt.Println(fault.Record, fault.Offset, fault.Part)
		}
		data[len(data)-5] ^= 1 // the last byte of "stork", before its checksum
	}
	// Output:
	// true 2
	// false 2
	// 1 21 data_crc
}
