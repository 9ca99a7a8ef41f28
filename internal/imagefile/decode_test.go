package imagefile

import (
	"bytes"
	"context"
	"errors"
	"image"
	stdpng "image/png"
	"io"
	"strings"
	"testing"
)

// decoded returns the size of a picture.
func decoded(ctx context.Context, raw []byte) (image.Point, error) {
	return Decode(ctx, raw, func(Claim) error { return nil }, func(p *Picture) (image.Point, error) { return p.Bounds().Size(), nil })
}

// TestDecodeIsInterrupted: Decode returns when its context is done, though the decoder hangs.
func TestDecodeIsInterrupted(t *testing.T) {
	png, entered, leave := *formats[0], make(chan bool), make(chan bool)
	png.decode = func(io.Reader) (image.Image, error) {
		close(entered)
		<-leave
		return nil, errors.New("it hung")
	}
	listed := formats[0]
	formats[0] = &png
	var file bytes.Buffer
	if err := stdpng.Encode(&file, image.NewGray(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-entered
		formats[0] = listed
		cancel()
	}()
	if _, err := decoded(ctx, file.Bytes()); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	close(leave)
}

// TestRefused: what allow refuses is not decoded; a panic of use is damage.
func TestRefused(t *testing.T) {
	var file bytes.Buffer
	if err := stdpng.Encode(&file, image.NewGray16(image.Rect(0, 0, 5, 3))); err != nil {
		t.Fatal(err)
	}
	var got Claim
	no := errors.New("no")
	_, err := Decode(context.Background(), file.Bytes(), func(c Claim) error { got = c; return no }, func(*Picture) (int, error) {
		t.Error("it was decoded")
		return 0, nil
	})
	if !errors.Is(err, no) || got != (Claim{Width: 5, Height: 3, Channels: 1, Source: 2}) {
		t.Errorf("claim %+v, err = %v", got, err)
	}
	_, err = Decode(context.Background(), file.Bytes(), func(Claim) error { return nil }, func(*Picture) (int, error) { panic("index") })
	if !errors.Is(err, ErrImage) || !strings.Contains(err.Error(), "it is damaged (index)") {
		t.Errorf("err = %v", err)
	}
}

// FuzzDecode: whatever a file holds, it is a picture of its size or an error.
func FuzzDecode(f *testing.F) {
	var file bytes.Buffer
	if err := stdpng.Encode(&file, image.NewGray16(image.Rect(0, 0, 5, 3))); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte("RIFF\x40\x00\x00\x00WEBPVP8X"))
	f.Add([]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		allow := func(c Claim) error {
			if c.Width*c.Height > 1<<20 {
				return ErrMemory
			}
			return nil
		}
		_, err := Decode(context.Background(), raw, allow, func(p *Picture) (int, error) { return p.Bounds().Dx(), nil })
		if err != nil && !errors.Is(err, ErrImage) && !errors.Is(err, ErrMemory) {
			t.Error(err)
		}
	})
}
