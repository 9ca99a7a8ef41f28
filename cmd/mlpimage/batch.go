package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/devices"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/internal/samefile"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

// batchFlags is the command line of batch.
type batchFlags struct {
	settings settings
	device   devices.Flags
	memory   memory
	limits   limits
	out      string
	jobs     int
	shard    string
	weights  string
	every    int
	quiet    bool
}

func newBatch() *cobra.Command {
	var f batchFlags
	cmd := &cobra.Command{
		Use:   "batch DIR -o DIR",
		Short: "Fit a network to each image of a folder",
		Long: `batch trains on every PNG, JPEG, WebP, GIF, BMP and TIFF file of a folder, with the settings of train, and writes for each image
NAME.mlp.png, the model NAME.mlp.npz and what was measured, NAME.mlp.json. At the end it prints a table and
writes it as summary.csv. An image that is done, with these settings, is not done again; one that cannot be
read, or fails, does not stop the others. A run that was interrupted or killed resumes: images in
work are kept in checkpoints.

It exits with code 0 if every image is done, with 1 if some failed, and with 3 if a signal (Ctrl-C, SIGTERM or SIGHUP)
came before the end: the same command resumes.

Over several machines, --shard I/N takes every N-th image from the I-th on, counted from 0. The tasks of a Slurm
array job share out the folder among them, whatever their numbers. With --shard N the number of the task, or of
the pod of a Kubernetes Indexed Job, is I. docs/cluster.md has job files to start from.`,
		Example: `  mlpimage batch photos -o fits
  mlpimage batch photos -o fits --jobs 2 --preset best --time 1m
  sbatch --array=0-7 --wrap "mlpimage batch photos -o fits"`,
		Args: cli.Exactly("the folder of images"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return batch(cmd.Context(), args[0], f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&f.out, "output", "o", "", "folder to write to (required); made if it is not there")
	fs.IntVar(&f.jobs, "jobs", 1, "images to train on at once")
	fs.StringVar(&f.shard, "shard", "", "I/N: only every N-th image from the I-th on; N: I is the number of the task in an array job")
	fs.StringVar(&f.weights, "weights", imagefit.FP32, cli.OneOf(imagefit.WeightFormats)+": how the models' weights are stored")
	fs.IntVar(&f.every, "checkpoint-every", 1000, "steps between two checkpoints of an image in work")
	cli.Group(fs, groupWrite)
	f.settings.register(fs)
	f.limits.register(fs)
	f.device.Register(fs, program)
	f.memory.register(fs)
	cli.Group(fs, devices.FlagGroup)
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors")
	cli.Group(fs, groupWrite)
	return cmd
}

// row is what is known of one image: a line of the summary, and the contents of NAME.mlp.json.
type row struct {
	Image    string   `json:"image"`
	State    string   `json:"-"` // done, skipped, failed or left
	Error    string   `json:"-"`
	Width    int      `json:"width"`
	Height   int      `json:"height"`
	PSNR     *float64 `json:"psnr_db"` // null if exact
	Steps    int      `json:"steps"`
	Ended    string   `json:"ended"`
	Params   int      `json:"params"`
	Bytes    int64    `json:"model_bytes"`
	Seconds  float64  `json:"seconds"`
	Device   string   `json:"device"`
	Source   string   `json:"source_sha256"` // of the file that was read
	Settings string   `json:"settings"`      // that it was trained with
}

func batch(ctx context.Context, dir string, f batchFlags, stdout, stderr io.Writer) error {
	if f.out == "" {
		return cli.Usage(errors.New("batch needs -o DIR"))
	}
	err := cmp.Or(atLeastOne("jobs", int64(f.jobs)), atLeastOne("checkpoint-every", int64(f.every)), f.limits.validate(), checkWeights(f.weights))
	if err != nil {
		return err
	}
	if _, err := f.settings.config(1, 1); err != nil { // before any image is looked at
		return err
	}
	share, source, err := parseShard(ctx, f.shard, f.out)
	if err != nil {
		return cli.Usage(err)
	}
	names, err := images(dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("%s holds no file that ends in %s", dir, strings.Join(extensions, ", "))
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return err
	}
	if same(dir, f.out) {
		return cli.Usage(fmt.Errorf("-o %s is the folder of the images: results need one of their own", f.out))
	}
	chatter, report := stderr, stdout
	if f.quiet {
		chatter, report = io.Discard, io.Discard
	}
	mine := share.of(names)
	if source != "" {
		fmt.Fprintf(chatter, "shard %d of %d (%s): %d of %d images\n", share.index, share.count, source, len(mine), len(names))
	}
	f.memory.jobs = min(f.jobs, len(mine)) // no more run at once
	f.memory.limit()                       // the jobs only read it
	summary := filepath.Join(f.out, "summary.csv")
	if share.count > 1 {
		summary = filepath.Join(f.out, fmt.Sprintf("summary-%d-of-%d.csv", share.index, share.count))
	}
	b := &batchRun{flags: f, dir: dir, chatter: chatter, alarms: stderr, rows: make([]row, len(mine))}
	b.unwritable = unwritable(b.readableFirst(ctx, names), b.path)
	if err := b.distinct(names, mine, summary); err != nil {
		return err
	}
	if err := atomicfile.Check(summary); err != nil {
		return err
	}
	b.each(ctx, mine)
	_ = b.printTable(report) // standard output remembers, and the summary has it all
	err, unsaved := b.failure(ctx), atomicfile.Write(summary, b.writeCSV)
	switch {
	case unsaved == nil:
		return err
	case err != nil:
		return fmt.Errorf("%w; %v", unsaved, err) // the code is that of a failure
	}
	return unsaved
}

// distinct returns an error if a result would overwrite an image, by a link, or another result.
func (b *batchRun) distinct(names, mine []string, summary string) error {
	var inputs []named
	for _, name := range names {
		inputs = append(inputs, named{"an image", filepath.Join(b.dir, name)})
	}
	outputs := []named{{"the summary", summary}}
	for _, name := range mine {
		if b.unwritable[name] != nil {
			continue // it fails
		}
		for _, ext := range resultExts {
			outputs = append(outputs, named{"a result of " + name, b.path(name, ext)})
		}
	}
	return distinct(inputs, outputs)
}

// resultExts are the ends of the names of an image's results.
var resultExts = []string{".png", ".npz", ".json", ".ckpt"}

// extensions are those of the files that batch takes for images.
var extensions = []string{".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"}

// images returns the names of the images of a folder, sorted.
func images(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		ext := strings.ToLower(filepath.Ext(e.Name()))
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && slices.Contains(extensions, ext) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// readableFirst returns the names with those of files that are no picture last: of two files whose
// results would have one name, that of a picture gets it. Only such files are read.
func (b *batchRun) readableFirst(ctx context.Context, names []string) []string {
	count := map[string]int{}
	for _, name := range names {
		count[strings.ToLower(stem(name))]++
	}
	readable := func(name string) bool {
		path := filepath.Join(b.dir, name)
		if info, err := os.Stat(path); err != nil || regular.Kind(info.Mode()) != "" {
			return false
		}
		_, err := b.flags.memory.image(ctx, path)
		return err == nil || ctx.Err() != nil
	}
	var first, last []string
	for _, name := range names {
		if count[strings.ToLower(stem(name))] == 1 || readable(name) {
			first = append(first, name)
		} else {
			last = append(last, name)
		}
	}
	return append(first, last...)
}

// unwritable returns the errors of images that can have no results: their names are too long for
// the file system, or the results would be the files of an earlier image's.
func unwritable(names []string, path func(name, ext string) string) map[string]error {
	type known struct {
		name string
		id   samefile.ID
	}
	byKey, errs := map[any][]known{}, map[string]error{}
	for _, name := range names {
		id, err := samefile.Of(path(name, ".png"))
		if err != nil {
			errs[name] = err
			continue
		}
		same := slices.IndexFunc(byKey[id.Key()], func(k known) bool { return k.id.Same(id) })
		if same >= 0 {
			errs[name] = fmt.Errorf("its results would have the names of those of %s: rename one", byKey[id.Key()][same].name)
			continue
		}
		byKey[id.Key()] = append(byKey[id.Key()], known{name, id})
	}
	return errs
}

func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// batchRun is a run of batch.
type batchRun struct {
	flags   batchFlags
	dir     string
	chatter io.Writer
	alarms  io.Writer

	unwritable map[string]error

	opened sync.Once

	mu   sync.Mutex // over chatter
	rows []row
}

// each fits the images, as many at once as there are jobs. A device belongs to one goroutine: each
// job opens its own.
func (b *batchRun) each(ctx context.Context, names []string) {
	next := make(chan int, len(names))
	for i, name := range names {
		b.rows[i] = row{Image: name, State: "left"}
		next <- i
	}
	close(next)
	var jobs sync.WaitGroup
	for range min(b.flags.jobs, len(names)) {
		jobs.Go(func() {
			var d tensor.Device
			defer func() {
				if d != nil {
					d.Close()
				}
			}()
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				was := opened{d, b.rows[i]}
				now, ok := cli.Abandonable(ctx, func(begun func()) opened { return b.one(ctx, was, begun) })
				if !ok {
					d = nil // the work that is left has it
					return
				}
				d, b.rows[i] = now.device, now.row
				b.say(i)
			}
		})
	}
	jobs.Wait()
}

// say prints what became of an image.
func (b *batchRun) say(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &b.rows[i]
	switch r.State {
	case "done", "skipped":
		fmt.Fprintf(b.chatter, "%s: %s, PSNR %s, %d steps\n", cli.OneLine(r.Image), r.State, formatPSNR(r.PSNR), r.Steps)
	case "failed":
		fmt.Fprintf(b.chatter, "%s: failed: %s\n", cli.OneLine(r.Image), cli.OneLine(r.Error))
	}
}

// opened is a device, nil if none is open, and the image that it is used for.
type opened struct {
	device tensor.Device
	row    row
}

// one fits an image and returns the device, opened if it was needed and not yet there. What goes
// wrong becomes part of the row; a device that failed is closed, so that the next image gets
// another.
func (b *batchRun) one(ctx context.Context, o opened, begun func()) opened {
	start, r := time.Now(), &o.row
	d, err := b.fit(ctx, o.device, r, begun)
	switch {
	case err != nil:
		r.State, r.Error = "failed", strings.ReplaceAll(cli.Sentence(err), "\n", " ")
	case r.State == "done":
		r.Seconds = time.Since(start).Seconds()
		err = atomicfile.Write(b.path(r.Image, ".json"), func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "\t")
			return e.Encode(r)
		})
		if err != nil {
			r.State, r.Error = "failed", cli.Sentence(err)
			break
		}
		// Only now: a run that is killed before resumes from it.
		if err := os.Remove(b.path(r.Image, ".ckpt")); err != nil && !errors.Is(err, os.ErrNotExist) {
			r.State, r.Error = "failed", cli.Sentence(err)
		}
	}
	if d != nil && d.Err() != nil {
		d.Close()
		d = nil
	}
	return opened{d, o.row}
}

// path returns the name of a result of an image.
func (b *batchRun) path(image, ext string) string {
	return filepath.Join(b.flags.out, stem(image)+".mlp"+ext)
}

func (b *batchRun) fit(ctx context.Context, d tensor.Device, r *row, begun func()) (tensor.Device, error) {
	if err := b.unwritable[r.Image]; err != nil {
		return d, err
	}
	path := filepath.Join(b.dir, r.Image)
	for _, read := range []string{path, b.path(r.Image, ".ckpt")} { // a pipe might never say anything
		if info, err := os.Stat(read); err == nil && regular.Kind(info.Mode()) != "" {
			return d, fmt.Errorf("%s is no regular file but %s", read, regular.Kind(info.Mode()))
		}
	}
	raw, err := b.flags.memory.read(ctx, path)
	if ctx.Err() != nil {
		return d, nil // it is left
	}
	if err != nil {
		return d, err
	}
	img, err := b.flags.memory.decode(ctx, "", raw)
	if ctx.Err() != nil {
		return d, nil // it is left
	}
	if err != nil {
		return d, err
	}
	cfg, err := b.flags.settings.config(img.Width, img.Height)
	if err != nil {
		return d, err
	}
	if err := b.flags.memory.fit(img, cfg); err != nil {
		return d, err
	}
	sum := sha256.Sum256(raw)
	settings, err := json.Marshal(struct {
		imagefit.Config
		PSNR    float64 `json:"psnr"`
		Time    string  `json:"time"`
		Weights string  `json:"weights"`
	}{cfg, b.flags.limits.psnr, b.flags.limits.time.String(), b.flags.weights})
	if err != nil {
		return d, err
	}
	r.Width, r.Height, r.Source, r.Settings = img.Width, img.Height, hex.EncodeToString(sum[:]), string(settings)
	if b.skip(r) {
		return d, nil
	}
	for _, ext := range resultExts {
		if err := atomicfile.Check(b.path(r.Image, ext)); err != nil {
			return d, err
		}
	}
	if d == nil {
		if d, err = b.flags.device.Open(b.once()); err != nil {
			return nil, err
		}
	}
	fit, err := b.begin(ctx, d, img, cfg, b.path(r.Image, ".ckpt"))
	if err != nil {
		return d, err
	}
	defer fit.Free()
	s := &session{name: r.Image, fit: fit, img: img, stdout: io.Discard, chatter: io.Discard, alarms: b.alarms, begun: begun, outputs: &outputs{
		image: b.path(r.Image, ".png"), model: b.path(r.Image, ".npz"), weights: b.flags.weights,
		checkpoint: b.path(r.Image, ".ckpt"), checkpointEvery: b.flags.every, quality: imagefit.DefaultQuality,
	}}
	result, err := s.run(ctx, b.flags.limits.watch())
	if ctx.Err() != nil && (err != nil || result.Ended == string(imagefit.Interrupted)) {
		return d, nil // it is left, with its checkpoint if it had begun
	}
	if err != nil {
		return d, err
	}
	file, err := os.Stat(s.outputs.model)
	if err != nil {
		return d, err
	}
	r.State, r.PSNR, r.Steps, r.Ended, r.Params = "done", result.PSNR, result.Steps, result.Ended, result.Params
	r.Device, r.Bytes = result.Device, file.Size()
	return d, nil
}

// once returns the chatter for the first device that is opened: the others are the same.
func (b *batchRun) once() io.Writer {
	w := io.Discard
	b.opened.Do(func() { w = b.chatter })
	return w
}

// mostRow bounds what was measured of an image, in bytes.
const mostRow = 1 << 20

// skip reports whether an image was done before, with the same settings and from the same file, and
// takes over what was measured.
func (b *batchRun) skip(r *row) bool {
	text, err := regular.Read(b.path(r.Image, ".json"), mostRow)
	if err != nil {
		return false
	}
	var before row
	if json.Unmarshal(text, &before) != nil || before.Source != r.Source || before.Settings != r.Settings {
		return false
	}
	for _, ext := range []string{".png", ".npz"} {
		if !isFile(b.path(r.Image, ext)) {
			return false
		}
	}
	*r = before
	r.State = "skipped"
	return true
}

// begin resumes the checkpoint of an image, if there is one of this fit, or starts from the
// beginning.
func (b *batchRun) begin(ctx context.Context, d tensor.Device, img *imagefit.Image, cfg imagefit.Config, path string) (*imagefit.Fit, error) {
	if saved, err := b.flags.memory.checkpoint(ctx, path); err == nil && saved.Steps <= cfg.Steps {
		if fit, err := imagefit.Resume(d, img, saved, cfg); err == nil {
			return fit, nil
		}
	}
	return imagefit.New(d, img, cfg)
}

// printTable prints the summary for a person.
func (b *batchRun) printTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "image\tstate\tpixels\tPSNR\tsteps\tmodel bytes\tseconds")
	for _, r := range b.rows {
		switch r.State {
		case "failed":
			fmt.Fprintf(t, "%s\tfailed\t\t\t\t\t%s\n", cli.OneLine(r.Image), cli.OneLine(r.Error)) // last, or the columns were as wide
		case "left":
			fmt.Fprintf(t, "%s\tleft\t\t\t\t\t\n", cli.OneLine(r.Image))
		default:
			fmt.Fprintf(t, "%s\t%s\t%dx%d\t%s\t%d\t%d\t%.1f\n", cli.OneLine(r.Image), r.State, r.Width, r.Height, formatPSNR(r.PSNR), r.Steps, r.Bytes, r.Seconds)
		}
	}
	return t.Flush()
}

// writeCSV writes the summary for programs.
func (b *batchRun) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	lines := [][]string{{"image", "state", "width", "height", "psnr_db", "steps", "ended", "params", "model_bytes", "seconds", "device", "error"}}
	for _, r := range b.rows {
		psnr := ""
		if r.PSNR != nil {
			psnr = strconv.FormatFloat(*r.PSNR, 'f', 3, 64)
		}
		lines = append(lines, []string{r.Image, r.State, strconv.Itoa(r.Width), strconv.Itoa(r.Height), psnr, strconv.Itoa(r.Steps), r.Ended,
			strconv.Itoa(r.Params), strconv.FormatInt(r.Bytes, 10), strconv.FormatFloat(r.Seconds, 'f', 2, 64), r.Device, r.Error})
	}
	return c.WriteAll(lines)
}

// failure returns the error of a run in which not all images are done.
func (b *batchRun) failure(ctx context.Context) error {
	count := func(state string) int {
		n := 0
		for _, r := range b.rows {
			if r.State == state {
				n++
			}
		}
		return n
	}
	failed, left := count("failed"), count("left")
	text := ""
	if failed > 0 {
		first := b.rows[slices.IndexFunc(b.rows, func(r row) bool { return r.State == "failed" })]
		text = fmt.Sprintf("%d of %d images failed, the first is %s: %s", failed, len(b.rows), first.Image, first.Error)
	}
	switch {
	case left > 0 && ctx.Err() != nil && failed > 0:
		return cli.Interrupted(fmt.Errorf("interrupted: %d of %d images are left: the same command resumes; %s", left, len(b.rows), text))
	case left > 0 && ctx.Err() != nil:
		return cli.Interrupted(fmt.Errorf("interrupted: %d of %d images are left: the same command resumes", left, len(b.rows)))
	case failed > 0:
		return errors.New(text)
	}
	return nil
}
