package csvscan

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestParseInt64(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "7": 7, "-7": -7, "007": 7, "+5": 5, " 12 ": 12, "\t3": 3,
		"123456789012345678": 123456789012345678, "-999999999999999999": -999999999999999999,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		if got, ok := ParseInt64([]byte(text)); !ok || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", "+", " ", "1.0", "1e3", "9223372036854775808", "-9223372036854775809", "1_000", "0x10", "1,000", "--1", "1 2", "1\x00", "١"} {
		if got, ok := ParseInt64([]byte(text)); ok {
			t.Errorf("%q: %d, want a refusal", text, got)
		}
	}
}

func TestParseFloat64(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "1.5": 1.5, "-1.5": -1.5, ".5": .5, "5.": 5, "-.5": -.5, "1e3": 1000, "1E-3": .001, "+2.5": 2.5, " 2.5\t": 2.5, "007.5": 7.5,
		"0.1": .1, "123456789012345678": 123456789012345678, "9007199254740993": 9007199254740992, "0.30000000000000004": 0.30000000000000004,
		"0.00000000000000000000001": 1e-23, "1e400": math.Inf(1), "-1e400": math.Inf(-1), "1e-400": 0, "3.4028235e38": 3.4028235e38,
		"inf": math.Inf(1), "-Inf": math.Inf(-1), "INFINITY": math.Inf(1), "+inf": math.Inf(1),
		"18446744073709551616": 18446744073709551616, "184467440737095516160.5": 184467440737095516160.5, "2.2250738585072011e-308": 2.2250738585072011e-308,
	} {
		if got, ok := ParseFloat64([]byte(text)); !ok || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, ok, want)
		}
	}
	if got, ok := ParseFloat64([]byte("-0.0")); !ok || !math.Signbit(got) {
		t.Errorf("-0.0: %v, %v", got, ok)
	}
	for _, text := range []string{"nan", "NaN", "-nan", "+NAN"} {
		if got, ok := ParseFloat64([]byte(text)); !ok || !math.IsNaN(got) {
			t.Errorf("%q: %v, %v, want NaN", text, got, ok)
		}
	}
	for _, text := range []string{"", "-", ".", "-.", "e5", "1e", "1e+", "1.2.3", "0x10", "0x1p3", "1_000.5", "1,5", "infi", "nano", "1 2", "--1", "1.5\x00"} {
		if got, ok := ParseFloat64([]byte(text)); ok {
			t.Errorf("%q: %v, want a refusal", text, got)
		}
	}
}

// checkNumber holds the fast paths and the classifier to strconv.
func checkNumber(t *testing.T, text string) {
	field := []byte(text)
	got, ok := ParseFloat64(field)
	want, wantOK := parseFloatSlow(trimBlanks(field))
	if ok != wantOK || math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("ParseFloat64(%q): %v, %v, strconv says %v, %v", text, got, ok, want, wantOK)
	}
	i, iok := ParseInt64(field)
	wantInt, err := strconv.ParseInt(strings.Trim(text, " \t"), 10, 64)
	if iok != (err == nil) || iok && i != wantInt {
		t.Fatalf("ParseInt64(%q): %d, %v, strconv says %d, %v", text, i, iok, wantInt, err)
	}
	switch k := classify(field); {
	case k == classInt && (!iok || !ok):
		t.Fatalf("%q is called an integer", text)
	case k == classInt && text != "-0" && strconv.FormatInt(i, 10) != strings.Trim(text, " \t"):
		t.Fatalf("integer %q comes back as %d", text, i)
	case (k == classFloat || k == classWideFloat) && !ok:
		t.Fatalf("%q is called a float", text)
	case k == classFloat && losesFloat32(field) && !isSpecial(bytes.TrimLeft(trimBlanks(field), "+-")):
		t.Fatalf("%q is called a float that float32 holds", text)
	case k == classText && ok && strings.Trim(text, " \t") == text && !strings.ContainsAny(text, "+"):
		t.Fatalf("%q is called text, but parses", text)
	}
}

func TestNumbersAgainstStrconv(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		v := math.Float64frombits(rng.Uint64())
		for _, format := range []byte("efg") {
			checkNumber(t, strconv.FormatFloat(v, format, rng.IntN(20)-1, 64))
		}
		checkNumber(t, strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(20)-1, 64))
		checkNumber(t, strconv.FormatInt(rng.Int64()>>rng.IntN(63), 10))
		checkNumber(t, strconv.FormatUint(rng.Uint64()>>rng.IntN(63), 10))
	}
}

func FuzzNumber(f *testing.F) {
	for _, text := range []string{"1", "-0.5", "1e5", "007", "+1", "inf", "-NaN", "99999999999999999999", " 1 ", ".", "-.e1", "00:15", "0x1p-2", "1_0"} {
		f.Add(text)
	}
	f.Fuzz(checkNumber)
}

func TestClassify(t *testing.T) {
	for text, want := range map[string]class{
		"": classText, "-": classText, "abc": classText, "1a": classText, "1 ": classInt, " 1": classInt, "\t-1.5 ": classFloat, " 007": classLeadingZero, " +1 ": classPlus, "+ 1": classText, "- 1": classText, "1 2": classText, " ": classText, "1-2": classText, "2024-01-01": classText,
		"0": classInt, "-0": classInt, "-12": classInt, "999999999999999999": classInt, "9223372036854775807": classInt, "-9223372036854775808": classInt,
		"9223372036854775808": classHuge, "-9223372036854775809": classHuge, "12345678901234567890": classHuge,
		"007": classLeadingZero, "-007": classLeadingZero, "00": classLeadingZero, "007.5": classLeadingZero, "01e5": classLeadingZero,
		"00:15": classText, "00-1": classText, "0123-456": classText, "00a": classText,
		"+5": classPlus, "+1.5": classPlus, "+007": classPlus, "+": classText, "++1": classText, "+-1": classText, "+a": classText,
		"1.5": classFloat, ".5": classFloat, "5.": classFloat, "-0.0": classFloat, ".": classText, "-.": classText, ".inf": classText, "1.inf": classText,
		"nan": classFloat, "-NaN": classFloat, "Inf": classFloat, "-infinity": classFloat, "infinite": classText, "na": classText,
		"1e5": classWideFloat, "1E+05": classWideFloat, ".5e-3": classWideFloat, "1e": classText, "1e+": classText, "e5": classText, "1e5.5": classText,
		"0x10": classText, "1_000": classText, "1,000": classText,
		"0.0000000000000000000000000000000000000000001": classWideFloat,
	} {
		if got := classify([]byte(text)); got != want {
			t.Errorf("%q: class %d, want %d", text, got, want)
		}
	}
}

func TestLosesFloat32(t *testing.T) {
	for text, want := range map[string]bool{
		"1e38": false, "3.4028234e38": false, "3.5e38": true, "-1e39": true, "1e400": true, "1e-37": false, "1e-38": false, "1e-40": true, "1.2345678e-44": true,
		"1e-46": true, "1e-400": true, "0e-400": false, "0.0e0": false, "1.5e3": false, "123456789.123e0": false,
		"0.0000000000000000000000000000000000000000000000001": true,
	} {
		if got := losesFloat32([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestMissing(t *testing.T) {
	m := NewMissing(DefaultMissing)
	for text, want := range map[string]bool{"": true, "NA": true, "N/A": true, "NULL": true, "null": true, "nan": false, "None": false, "na": false, " ": false, "NAN": false, "N": false} {
		if m.Is([]byte(text)) != want {
			t.Errorf("%q: missing is %v, want %v", text, !want, want)
		}
	}
	if m := NewMissing([]string{"-999"}); m.Is(nil) || !m.Is([]byte("-999")) {
		t.Error("tokens given aren't the only ones known")
	}
	if new(Missing).Is(nil) {
		t.Error("the zero Missing knows a token")
	}
}

func TestParseFloat32(t *testing.T) {
	for text, want := range map[string]string{
		"1.5": "1.5 true true", "3.5e38": "+Inf false true", "-1e300": "-Inf false true", "1e999": "+Inf false true", " 1e39 ": "+Inf false true",
		"inf": "+Inf true true", "-Infinity": "-Inf true true", "nan": "NaN true true", "1e-60": "0 true true", "3.4028235e38": "3.4028235e+38 true true",
		"x": "0 true false", "": "0 true false",
	} {
		v, fits, ok := ParseFloat32([]byte(text))
		if got := fmt.Sprint(v, fits, ok); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestIsTiny(t *testing.T) {
	for text, want := range map[string]bool{"0": false, "0.000": false, "-0e5": false, "1e-37": false, "1e-38": true, "-1e-60": true, "1e-999": true, "nan": false, "inf": false, "x": false} {
		if got := IsTiny([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
