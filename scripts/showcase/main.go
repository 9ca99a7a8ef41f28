// Showcase makes the pictures of the first screen of cmd/mlpimage/README.md: what each preset
// learned of one photograph, side by side with the original, and the curves of PSNR over time.
//
//	go run ./scripts/showcase bin/mlpimage testdata/chelsea.png docs/images [DEVICE]
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: showcase MLPIMAGE IMAGE DIR [DEVICE]")
		os.Exit(2)
	}
	device := "auto"
	if len(os.Args) > 4 {
		device = os.Args[4]
	}
	if err := show(os.Args[1], os.Args[2], os.Args[3], device); err != nil {
		fmt.Fprintln(os.Stderr, "showcase:", err)
		os.Exit(1)
	}
}

// fit is a run of the program.
type fit struct {
	name    string
	learned image.Image
	curve   plotter.XYs // seconds, dB
	Params  int         `json:"params"`
	Seconds float64     `json:"seconds"`
	PSNR    float64     `json:"psnr_db"`
	Device  string      `json:"device"`
}

func show(program, photo, dir, device string) error {
	original, err := readPNG(photo)
	if err != nil {
		return err
	}
	var fits []*fit
	for _, preset := range []string{"fast", "good", "best"} {
		f, err := run(program, photo, preset, device)
		if err != nil {
			return fmt.Errorf("preset %s: %w", preset, err)
		}
		fmt.Printf("%s: %d weights, %.2f dB, %.1f s on %s\n", preset, f.Params, f.PSNR, f.Seconds, f.Device)
		fits = append(fits, f)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := writePNG(filepath.Join(dir, "presets.png"), sideBySide(original, fits)); err != nil {
		return err
	}
	return curves(filepath.Join(dir, "psnr.svg"), fits)
}

func run(program, photo, preset, device string) (*fit, error) {
	dir, err := os.MkdirTemp("", "showcase")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out, log := filepath.Join(dir, "out.png"), filepath.Join(dir, "log.jsonl")
	cmd := exec.Command(program, "train", photo, "--preset", preset, "--device", device, "-o", out, "--log", log, "--json", "--quiet")
	cmd.Stderr = os.Stderr
	result, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	f := &fit{name: preset}
	if err := json.Unmarshal(result, f); err != nil {
		return nil, err
	}
	if f.learned, err = readPNG(out); err != nil {
		return nil, err
	}
	f.curve, err = readCurve(log)
	return f, err
}

// readCurve returns the PSNR over the seconds of training.
func readCurve(path string) (plotter.XYs, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var curve plotter.XYs
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var p struct {
			PSNR    float64 `json:"psnr_db"`
			Seconds float64 `json:"seconds"`
		}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, err
		}
		curve = append(curve, plotter.XY{X: p.Seconds, Y: p.PSNR})
	}
	return curve, lines.Err()
}

const (
	caption = 18 // height
	gap     = 8
	detail  = 3 // a third of the picture's width, enlarged to it
)

// sideBySide draws the original and what was learned of it, each above its middle, enlarged.
func sideBySide(original image.Image, fits []*fit) image.Image {
	size := original.Bounds().Size()
	sheet := image.NewNRGBA(image.Rect(0, 0, (size.X+gap)*(len(fits)+1)-gap, caption+2*size.Y+gap))
	draw.Draw(sheet, sheet.Bounds(), image.White, image.Point{}, draw.Src)
	panel := func(at int, img image.Image, title string) {
		x := at * (size.X + gap)
		text := font.Drawer{Dst: sheet, Src: image.NewUniform(color.Black), Face: basicfont.Face7x13, Dot: fixed.P(x+4, caption-5)}
		text.DrawString(title)
		draw.Draw(sheet, image.Rect(x, caption, x+size.X, caption+size.Y), img, img.Bounds().Min, draw.Src)
		middle := image.Rect(0, 0, size.X/detail, size.Y/detail).Add(img.Bounds().Min).Add(size.Sub(size.Div(detail)).Div(2))
		below := image.Rect(x, caption+size.Y+gap, x+size.X, caption+size.Y+gap+size.Y)
		xdraw.NearestNeighbor.Scale(sheet, below, img, middle, xdraw.Src, nil)
	}
	panel(0, original, fmt.Sprintf("the photograph, %dx%d", size.X, size.Y))
	for i, f := range fits {
		panel(i+1, f.learned, fmt.Sprintf("%s: %d weights, %.1f dB, %.1f s", f.name, f.Params, f.PSNR, f.Seconds))
	}
	return sheet
}

// curves plots PSNR over time.
func curves(path string, fits []*fit) error {
	p := plot.New()
	device, _, _ := strings.Cut(fits[0].Device, " (") // without the platform
	p.Title.Text = "PSNR of the batches while training, " + device
	p.X.Label.Text, p.Y.Label.Text = "seconds", "dB"
	p.X.Tick.Marker, p.Y.Tick.Marker = every(0.5), every(10)
	p.Legend.Left, p.Legend.XOffs, p.Legend.YOffs = true, vg.Inch, vg.Inch/8 // below the curves
	p.Add(plotter.NewGrid())
	for i, f := range fits {
		line, err := plotter.NewLine(f.curve)
		if err != nil {
			return err
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.2)
		p.Add(line)
		p.Legend.Add(f.name, line)
	}
	return p.Save(7*vg.Inch, 3.2*vg.Inch, path)
}

// every puts a tick at each multiple of a step.
type every float64

// Ticks is part of plot.Ticker.
func (e every) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for n := math.Ceil(low / float64(e)); n*float64(e) <= high; n++ {
		ticks = append(ticks, plot.Tick{Value: n * float64(e), Label: fmt.Sprint(n * float64(e))})
	}
	return ticks
}

func readPNG(path string) (image.Image, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	img, err := png.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return img, nil
}

func writePNG(path string, img image.Image) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(file, img); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
