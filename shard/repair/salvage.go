package repair

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// salvage extracts the intact records of one file.
type salvage struct {
	o    *Options
	file FileReport
	// want is the number of records in the manifest; -1 without a manifest.
	want int64
	// guide is the file's index; nil without one.
	guide *guide
	// give is called with each record, lose with each damaged range and the file that has it.
	give func(record []byte) error
	lose func(Damage, io.ReaderAt) error

	damage  []Damage
	omitted int64
	bytes   int64 // of the uncompressed stream
}

// frames salvages the uncompressed stream in. settle must be called afterwards.
func (s *salvage) frames(in io.ReaderAt) error {
	o := tfrecord.ReaderOptions{MaxRecord: s.o.MaxRecord}
	walk := tfrecord.NewSalvager(in, o)
	var open *tfrecord.Damage // not reported yet: it may grow
	for {
		record, err := walk.Next()
		var found *tfrecord.Damage
		switch {
		case errors.As(err, &found):
			if err := s.put(open, in, s.guide.upTo(s.bytes)); err != nil {
				return err
			}
			if s.guide.doubtful() {
				s.distrust()
			}
			open, s.bytes = found, found.Offset+found.Bytes
			next, err := s.guide.behind(in, o.Framing(), found.Offset, s.bytes)
			if err != nil {
				return err
			}
			if next != s.bytes {
				open.Bytes, s.bytes = next-found.Offset, next
				walk.MoveTo(found.Record+1, next)
			}
		case err == io.EOF:
			return s.put(open, in, s.guide.rest())
		case err != nil:
			return err
		default:
			offset := walk.Offset()
			size := int64(len(record)) + tfrecord.Overhead
			passed, ours := s.guide.takes(offset, size, open != nil)
			if !ours && open != nil { // a frame inside a damaged one
				if s.bytes, err = o.Framing().Resync(in, offset+1); err != nil {
					return err
				}
				open.Bytes = s.bytes - open.Offset
				walk.MoveTo(walk.Record(), s.bytes)
				continue
			}
			if !ours {
				s.distrust()
			}
			if open == nil && passed > 0 { // equal sizes have misled the guide
				s.file.RecordsLost += passed
			}
			if err := s.put(open, in, passed); err != nil {
				return err
			}
			open, s.bytes = nil, offset+size
			s.file.RecordsSaved++
			if err := s.give(record); err != nil {
				return err
			}
		}
	}
}

// distrust continues without the index.
func (s *salvage) distrust() {
	s.guide = nil
	s.file.RecordsLostExact = len(s.damage) == 0
	s.file.Note = "the index was not used: it does not match this file, or cannot be checked against it"
}

// put reports a damaged range that will not grow further, if any. records is the number of lost
// records according to the guide, if there is one.
func (s *salvage) put(d *tfrecord.Damage, in io.ReaderAt, records int64) error {
	if d == nil {
		return nil
	}
	lost := Damage{Path: s.file.Path, Offset: d.Offset, Bytes: d.Bytes, Reason: reasonOf(d.Err), Records: records, Exact: true}
	if s.guide == nil {
		lost.Records = 1
		var err error
		if lost.Exact, err = isOneFrame(in, d); err != nil {
			return err
		}
	}
	return s.add(lost, in)
}

// add counts damage and puts its bytes into the quarantine.
func (s *salvage) add(d Damage, in io.ReaderAt) error {
	if len(s.damage) < s.o.MaxDamage {
		s.damage = append(s.damage, d)
	} else {
		s.omitted++
	}
	s.file.BytesLost += d.Bytes
	s.file.RecordsLost += d.Records
	s.file.RecordsLostExact = s.file.RecordsLostExact && d.Exact
	return s.lose(d, in)
}

// settle compares the totals with the index and the manifest.
func (s *salvage) settle() error {
	f := &s.file
	want, who := s.want, "manifest"
	if s.guide != nil {
		want, who = int64(len(s.guide.entries)), "index"
	}
	if want < 0 {
		return nil
	}
	if missing := want - f.RecordsSaved - f.RecordsLost; missing > 0 && f.RecordsLostExact && (s.guide == nil || !s.guide.moved) {
		return s.add(Damage{
			Path: f.Path, Offset: s.bytes, Records: missing, Exact: true,
			Reason: fmt.Sprintf("%s: the file ends here; its %s has %s", tfrecord.PartCount, who, plural.Of(missing, "more record")),
		}, nil)
	}
	if extra := f.RecordsSaved - want; extra > 0 {
		f.Note = fmt.Sprintf("%s than the %s says: frames inside damaged records may be among them", plural.Of(extra, "more record"), who)
		f.RecordsLostExact = len(s.damage) == 0
		return nil
	}
	f.RecordsLost, f.RecordsLostExact = want-f.RecordsSaved, true
	return nil
}

// isOneFrame reports whether the damage covers a single payload, between a valid header and the
// next frame.
func isOneFrame(in io.ReaderAt, d *tfrecord.Damage) (bool, error) {
	var fault *tfrecord.Error
	if !errors.As(d.Err, &fault) || fault.Part != tfrecord.PartDataCRC || errors.Is(fault, io.ErrUnexpectedEOF) {
		return false, nil
	}
	var length [8]byte
	if _, err := in.ReadAt(length[:], d.Offset); err != nil {
		return false, err
	}
	return binary.LittleEndian.Uint64(length[:]) == uint64(d.Bytes-tfrecord.Overhead), nil
}

// reasonOf returns the description of the damage, without the location.
func reasonOf(err error) string {
	var fault *tfrecord.Error
	if errors.As(err, &fault) {
		return fmt.Sprintf("%s: %v", fault.Part, fault.Err)
	}
	return err.Error()
}
