package imagefile

import (
	"encoding/binary"
	"strings"
)

// unread lists the first bytes of files that people take for pictures that are read here, or that
// are pictures.
var unread = []struct{ magic, kind string }{
	{"\xff\x0a", "a JPEG XL picture"},
	{"\x00\x00\x00\x0cJXL ", "a JPEG XL picture"},
	{"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture"},
	{"\xff\x4f\xff\x51", "a JPEG 2000 picture"},
	{"%PDF-", "a PDF document"},
	{"%!PS", "a PostScript document"},
	{"\x76\x2f\x31\x01", "an OpenEXR picture"},
	{"#?RADIANCE", "a Radiance HDR picture"},
	{"#?RGBE", "a Radiance HDR picture"},
	{"qoif", "a QOI picture"},
	{"8BPS", "a Photoshop document"},
	{"\x00\x00\x01\x00", "a Windows icon"},
	{"DDS ", "a DDS texture"},
	{"farbfeld", "a farbfeld picture"},
	{"gimp xcf", "a GIMP document"},
	{"FUJIFILMCCD-RAW", "a camera's raw file"},
	{"II*\x00????CR", "a camera's raw file"},
	{"IIRO", "a camera's raw file"},
	{"IIRS", "a camera's raw file"},
	{"MMOR", "a camera's raw file"},
	{"IIU\x00", "a camera's raw file"},
	{"II+\x00", "a BigTIFF picture"},
	{"MM\x00+", "a BigTIFF picture"},
	{"RIFF????WAVE", "a sound"},
	{"RIFF????AVI ", "a video"},
	{"\x1a\x45\xdf\xa3", "a video"},
	{"PK\x03\x04", "an archive"},
	{"\x1f\x8b", "a compressed file"},
}

// brands are the kinds of files of the ISO base media format that are pictures. Others are videos.
var brands = map[string]string{
	"avif": "an AVIF picture", "avis": "an AVIF picture", "heic": "a HEIC picture", "heix": "a HEIC picture", "heim": "a HEIC picture",
	"heis": "a HEIC picture", "hevc": "a HEIC picture", "hevx": "a HEIC picture", "mif1": "a HEIF picture", "msf1": "a HEIF picture",
	"crx ": "a camera's raw file", "jpx ": "a JPEG 2000 picture",
}

// unreadKind says what a file is that is known and not read, or returns "".
func unreadKind(raw []byte) string {
	for _, u := range unread {
		if begins(raw, u.magic) {
			return u.kind
		}
	}
	if begins(raw, "????ftyp") && len(raw) >= 12 {
		kind := "a video"
		// The brand, then a version, then the brands that it is compatible with: mif1 is said by
		// many, avif says more.
		size := min(int(min(binary.BigEndian.Uint32(raw), 1<<16)), len(raw))
		for at := 8; at+4 <= size; at += 4 {
			if k, ok := brands[string(raw[at:at+4])]; ok && at != 12 && (kind == "a video" || kind == brands["mif1"]) {
				kind = k
			}
		}
		return kind
	}
	if isRaw(raw) {
		return "a camera's raw file"
	}
	start := strings.TrimSpace(strings.TrimPrefix(string(raw[:min(len(raw), 1<<10)]), "\ufeff"))
	lower := strings.ToLower(start)
	switch {
	case strings.HasPrefix(lower, "<svg") || strings.HasPrefix(lower, "<?xml") && strings.Contains(lower, "<svg"):
		return "an SVG drawing"
	case strings.HasPrefix(lower, "<!doctype html") || strings.HasPrefix(lower, "<html"):
		return "a web page"
	case len(start) > 2 && start[0] == 'P' && start[1] >= '1' && start[1] <= '7' && strings.ContainsRune(" \t\r\n", rune(start[2])):
		return "a Netpbm picture"
	}
	return ""
}

// isRaw reports whether a TIFF is a camera's raw file: a DNG says so, others put a small copy of
// the picture first. It is that copy which a reader of TIFF would take for the picture. Source:
// TIFF 6.0, NewSubfileType; DNG 1.4, DNGVersion.
func isRaw(raw []byte) bool {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case begins(raw, "MM\x00*"):
		order = binary.BigEndian
	case !begins(raw, "II*\x00"):
		return false
	}
	const newSubfileType, subIFDs, dngVersion, entry = 254, 330, 50706, 12
	if len(raw) < 8 {
		return false
	}
	at := uint64(order.Uint32(raw[4:]))
	if at+2 > uint64(len(raw)) {
		return false
	}
	reduced, others := false, false
	n := order.Uint16(raw[at:])
	for at += 2; n > 0 && at+entry <= uint64(len(raw)); n, at = n-1, at+entry {
		switch order.Uint16(raw[at:]) {
		case newSubfileType:
			reduced = order.Uint32(raw[at+8:])&1 == 1
		case subIFDs:
			others = true
		case dngVersion:
			return true
		}
	}
	return reduced && others
}

// Kind says what a file is: the name of a format that is read, or what else it is known to be, "" if
// it is not.
func Kind(raw []byte) (format, other string) {
	if other = unreadKind(raw); other != "" {
		return "", other
	}
	for _, f := range formats {
		for _, magic := range f.magic {
			if begins(raw, magic) {
				return f.name, ""
			}
		}
	}
	return "", ""
}
