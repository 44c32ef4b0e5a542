// Images writes the digits of digits.csv.gz as PNG files in a directory for each class, as
// `tfrec convert images` reads them.
//
//	go run ./examples/digits/images examples/digits/digits.csv.gz digits-png
package main

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"image"
	"image/png"
	"log"
	"os"
	"path/filepath"
	"strconv"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: images digits.csv.gz DIR")
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// side is the width and height of an image, brightest its largest sample.
const side, brightest = 8, 16

// write writes the images of a table, as DIR/CLASS/ROW.png.
func write(table, dir string) error {
	file, err := os.Open(table)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	rows := csv.NewReader(text)
	rows.FieldsPerRecord = side*side + 1
	all, err := rows.ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	for n, row := range all {
		m := image.NewGray(image.Rect(0, 0, side, side))
		for i := range m.Pix {
			sample, err := strconv.Atoi(row[i])
			if err != nil || sample < 0 || sample > brightest {
				return fmt.Errorf("%s: line %d: sample %q: want 0 to %d", table, n+1, row[i], brightest)
			}
			m.Pix[i] = uint8(255 * sample / brightest)
		}
		class := filepath.Join(dir, filepath.Base(row[side*side]))
		if err := os.MkdirAll(class, 0o755); err != nil {
			return err
		}
		out, err := os.Create(filepath.Join(class, fmt.Sprintf("%04d.png", n+1)))
		if err != nil {
			return err
		}
		if err := png.Encode(out, m); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
	}
	return nil
}
