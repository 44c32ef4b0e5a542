package stats_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// prices writes a file of Examples and returns its path.
func prices(dir string, values ...float32) string {
	var data []byte
	for _, value := range values {
		var b tfrecord.Builder
		b.Float("price", value)
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	path := filepath.Join(dir, fmt.Sprint(len(values), "-prices.tfrecord"))
	if err := os.WriteFile(path, data, 0o644); err != nil {
		log.Fatal(err)
	}
	return path
}

func Example() {
	dir, err := os.MkdirTemp("", "stats")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	may, june := prices(dir, 1, 2, 3, 4), prices(dir, 3, 4, 5)

	sum, err := stats.Inspect(ctx, []string{may, june}, stats.InspectOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range sum.Features {
		fmt.Println(f.Key, f.Kinds, *f.Float)
	}

	var reports [2]*stats.Report
	for i, path := range []string{may, june} {
		if reports[i], err = stats.Measure(ctx, []string{path}, stats.Options{}); err != nil {
			log.Fatal(err)
		}
		fmt.Println(reports[i].Feature("price").Float.Mean)
	}
	fmt.Println(stats.Compare(reports[0], reports[1]).Features[0].Float.KS)
	// Output:
	// price map[float:7] {1 5}
	// 2.5
	// 4
	// 0.5
}
