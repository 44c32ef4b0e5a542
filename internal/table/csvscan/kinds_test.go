package csvscan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestPaddedCells checks random columns with blanks around cells: a column of numbers and missing
// values is of numbers, and any other cell makes it text.
func TestPaddedCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	missing := NewMissing(DefaultMissing)
	pad := func() string { return [...]string{"", "", " ", "  ", "\t", " \t"}[rng.IntN(6)] }
	path := filepath.Join(t.TempDir(), "t.csv")
	for range 300 {
		pool := [][]string{{"1", "-20", "0"}, {"1.5", "2e3", "nan"}, {"NA", "", "null", "N/A"}, {"a", "1 2", "na", "True"}}[:1+rng.IntN(4)]
		var rows strings.Builder
		var ints, floats, texts, exact, padded int64
		for range 1 + rng.IntN(6) {
			kind := rng.IntN(len(pool))
			bare := pool[kind][rng.IntN(len(pool[kind]))]
			cell := pad() + bare + pad()
			fmt.Fprintf(&rows, "x,%s\n", cell)
			switch {
			case kind == 0:
				ints++
			case kind == 1:
				floats++
			case kind == 2 && cell == bare:
				exact++
			case kind == 2:
				padded++
			default:
				texts++
			}
			if got := missing.IsPadded([]byte(cell)); got != (kind == 2) {
				t.Fatalf("%q: missing %v", cell, got)
			}
		}
		if err := os.WriteFile(path, []byte("k,v\n"+rows.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		table, err := open(t, path, Options{Delimiter: ','}).Scan(t.Context(), ScanOptions{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		c := table.Columns[1]
		if c.Ints != ints || c.Floats != floats || c.Texts != texts || c.Missing != exact || c.Padded != padded {
			t.Fatalf("%q: %d ints, %d floats, %d texts, %d missing, %d padded; want %d, %d, %d, %d, %d",
				rows.String(), c.Ints, c.Floats, c.Texts, c.Missing, c.Padded, ints, floats, texts, exact, padded)
		}
	}
}

// TestIsRounded compares isRounded with the digits that float32 gives back.
func TestIsRounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50000 {
		frac := rng.IntN(12)
		text := strconv.FormatFloat(rng.NormFloat64()*[...]float64{1, 1e3, 1e6, 1e9}[rng.IntN(4)], 'f', frac, 64)
		v, err := strconv.ParseFloat(text, 32)
		if err != nil {
			t.Fatal(err)
		}
		field := []byte(text)
		if frac > 0 {
			text = strings.TrimRight(text, "0")
		}
		frac = len(text) - 1 - strings.IndexByte(text+".", '.')
		exact, _ := strconv.ParseFloat(text, 64)
		if half := math.Abs(v-exact) * math.Pow10(max(frac, 0)); math.Abs(half-0.5) < 1e-3 {
			continue // either may be called half
		}
		want := strconv.FormatFloat(v, 'f', frac, 64) != strings.TrimSuffix(text, ".") && len(field) > maxExact
		if got := isRounded(field, classify(field)); got != want {
			t.Fatalf("%s: rounded %v; as float32 it is %v", text, got, v)
		}
	}
	for text, want := range map[string]bool{
		"16777216": false, "16777217": true, "16777218": false, "9007199254740993": true, "1700000000.0": false, "1700000001.0": true, "9223372036854775807": true, "1.7e9": false, "1.23456789e5": true,
		"1e400": false, "infinity": false, "1.50000000000000000000000000000": false, "0.00000000000000000000000000000001": false, " 1.2345678 ": false, " 1.23456789 ": true,
	} {
		field := []byte(text)
		if got := isRounded(field, classify(field)); got != want {
			t.Errorf("%q: rounded %v", text, got)
		}
	}
}

func TestParseBool(t *testing.T) {
	for text, want := range map[string]int64{"true": 1, "True": 1, "TRUE ": 1, " false": 0, "False": 0, "FALSE": 0} {
		if got, ok := ParseBool([]byte(text)); !ok || got != want {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "t", "yes", "1", "truе", "true1", "fals"} {
		if _, ok := ParseBool([]byte(text)); ok {
			t.Errorf("%q is no truth value", text)
		}
	}
}

// TestLossOfOddNumbers: the digits of a number are lost in a float whether or not its spelling makes the
// column text: with a plus sign, leading zeros or more digits than int64 holds.
func TestLossOfOddNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	for _, c := range []struct {
		number string
		loss   string // rounded, or lossy
	}{
		{"0.123456789", "rounded"}, {"16777217", "rounded"}, {"1e30", ""}, {"1e60", "lossy"}, {"0.5", ""},
		{"12345678901234567891", "rounded"}, {strings.Repeat("9", 60), "lossy"}, {"10000000000000000000", ""},
	} {
		for _, prefix := range []string{"", "+", "00"} {
			if err := os.WriteFile(path, []byte("k,v\nx,1\ny,"+prefix+c.number+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			table, err := open(t, path, Options{Delimiter: ','}).Scan(t.Context(), ScanOptions{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			v := table.Columns[1]
			if v.Rounded != (c.loss == "rounded") || (v.Lossy == 1) != (c.loss == "lossy") {
				t.Errorf("%s%s: rounded %v, lossy %d; want %q", prefix, c.number, v.Rounded, v.Lossy, c.loss)
			}
		}
	}
}
