// Livepage takes the picture of the live page that cmd/mlpimage/README.md shows: it trains, and
// looks at the page with Chromium.
//
//	go run . ../../bin/mlpimage ../../testdata/chelsea.png ../../docs/images/live.png
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: livepage MLPIMAGE IMAGE OUT.png")
		os.Exit(2)
	}
	if err := take(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "livepage:", err)
		os.Exit(1)
	}
}

func take(program, photo, out string) error {
	dir, err := os.MkdirTemp("", "livepage")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	train := exec.Command(program, "train", photo, "--http", "127.0.0.1:0", "-o", filepath.Join(dir, "out.png"))
	says, err := train.StderrPipe()
	if err != nil {
		return err
	}
	if err := train.Start(); err != nil {
		return err
	}
	defer func() {
		_ = train.Process.Kill()
		_ = train.Wait()
	}()
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "live at "); ok {
			go func() {
				for lines.Scan() { // so that the program is not held up
				}
			}()
			return photograph(address, out)
		}
	}
	return errors.New("the program said no address")
}

const (
	enough   = 3000 // steps, for some of the curve
	patience = 10 * time.Minute
)

// photograph waits for a reconstruction and some of the curve.
func photograph(address, out string) error {
	ctx, cancel, err := browser(1100, 900)
	if err != nil {
		return err
	}
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Navigate(address)); err != nil {
		return err
	}
	drawn := `[...document.images].length > 1 && [...document.images].every((i) => i.naturalWidth > 0)`
	trained := fmt.Sprintf(`+document.getElementById("step").textContent.replace(",", "") >= %d`, enough)
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](drawn+" && "+trained, chromedp.WithPollingTimeout(patience))); err != nil {
		return err
	}
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(out, picture, 0o666)
}

// browser starts a headless Chromium with a window of some pixels.
func browser(width, height int) (context.Context, context.CancelFunc, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(width, height), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-quic", true))
	allocated, kill := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated)
	return ctx, func() { cancel(); kill() }, nil
}
