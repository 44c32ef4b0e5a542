package option

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
)

type nested struct{ Width, Height int }

type specimen struct {
	Size  nested // at the address of its first field
	Names []string
	Off   bool
	Word  string
	Level int
	Seed  uint64
	inner int
}

func (s *specimen) table() Table {
	return New(s, []Option{
		{Flag: "size", To: &s.Size, Set: func(string) error { return errors.New("no size") }},
		{Flag: "width", To: &s.Size.Width, Recorded: true},
		{Flag: "names", To: &s.Names, Recorded: len(s.Names) > 0, As: func() any { return len(s.Names) }, Key: "count"},
	}, []Option{
		{Flag: "keep-on", To: &s.Off, Not: true, Recorded: true},
		{Flag: "word", To: &s.Word, Words: []string{"a", "b"}, Default: "b"},
		{Flag: "level", To: &s.Level, Words: []string{"1", "3"}},
		{Flag: "seed", To: &s.Seed},
		{Flag: "inner", To: &s.inner},
	})
}

func TestTable(t *testing.T) {
	s := specimen{Size: nested{Width: 7}}
	table := s.table()
	for flag, want := range map[string]string{"size": "specimen.Size", "width": "nested.Width", "keep-on": "specimen.Off", "inner": ""} {
		if got := table.Find(flag).Field(); got != want {
			t.Errorf("--%s is %q, want %q", flag, got, want)
		}
	}
	if table.Find("height") != nil || table.ByKey("names") != nil {
		t.Error("an unknown flag or key is found")
	}
	if o := table.ByKey("keep_on"); o == nil || o.Flag != "keep-on" {
		t.Errorf("keep_on is %v", o)
	}
	if got, want := table.Recorded(), map[string]any{"width": 7, "keep_on": true}; !maps.Equal(got, want) {
		t.Errorf("recorded: %v, want %v", got, want)
	}
	s.Names = []string{"x"}
	if got := s.table().Recorded()["count"]; got != 1 {
		t.Errorf("the count is %v", got)
	}
}

func TestGroups(t *testing.T) {
	rows := In(Labels, []Option{{Flag: "a"}, {Flag: "b", Group: Run}})
	if rows[0].Group != Labels || rows[1].Group != Run {
		t.Errorf("%q and %q", rows[0].Group, rows[1].Group)
	}
	for _, g := range []Group{Labels, Run} {
		if !slices.Contains(Groups, g) {
			t.Errorf("%s is not among the groups", g)
		}
	}
}

func TestAtLeast(t *testing.T) {
	n := 0
	check := AtLeast(&n, 1, "1 or more")
	if err := check(); err == nil || err.Error() != "want 1 or more" {
		t.Errorf("0: %v", err)
	}
	if n = 1; check() != nil {
		t.Errorf("1: %v", check())
	}
}

func TestParser(t *testing.T) {
	var s specimen
	table := s.table()
	for _, c := range []struct{ flag, value, err string }{
		{"size", "1x1", "no size"},
		{"word", "a", ""},
		{"word", "c", "want a or b"},
		{"level", "3", ""},
		{"level", "2", "want 1 or 3"},
		{"seed", "18446744073709551615", ""},
		{"seed", "-1", "want a whole number, 0 or more"},
	} {
		err := table.Find(c.flag).Parser()(c.value)
		if got := errors.Join(err); (err == nil) != (c.err == "") || err != nil && got.Error() != c.err {
			t.Errorf("--%s=%s: %v, want %q", c.flag, c.value, err, c.err)
		}
	}
	if s.Level != 3 || s.Seed != 0 {
		t.Errorf("%+v", s)
	}
	if table.Find("word").Parser(); s.Word != "b" {
		t.Errorf("the default is %q", s.Word)
	}
	if table.Find("width").Parser() != nil {
		t.Error("a number has a parser")
	}
}

func TestRestored(t *testing.T) {
	for raw, want := range map[string][]string{
		`null`: nil, `""`: nil, `0`: nil, `[]`: nil, `{}`: nil,
		`"a b"`: {"a b"}, `false`: {"false"}, `18446744073709551615`: {"18446744073709551615"}, `0.25`: {"0.25"},
		`["a",2,0.5]`: {"a", "2", "0.5"}, `{"b":1,"a":"x"}`: {"a=x,b=1"},
	} {
		o := Option{Flag: "an-option"}
		flag, got, err := o.Restored(map[string]json.RawMessage{"an_option": json.RawMessage(raw)})
		if flag != "an-option" || err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q %q %v, want %q", raw, flag, got, err, want)
		}
	}
	o := Option{Flag: "a", RestoredBy: "b", Restore: Nothing, Input: From("a", "from a file")}
	if flag, values, err := o.Restored(map[string]json.RawMessage{"a": json.RawMessage("1")}); flag != "b" || values != nil || err != nil {
		t.Errorf("%q %q %v", flag, values, err)
	}
	if o.Input(nil) != "" || o.Input(map[string]json.RawMessage{"a": nil}) != "" || o.Input(map[string]json.RawMessage{"a": {'1'}}) != "from a file" {
		t.Error("an input is found where there is none, or the other way round")
	}
}
