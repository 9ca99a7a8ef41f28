package devices

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/environment"
	"github.com/clgrad/clgrad/internal/regular"
)

// driversEnv is the variable that names the folder of drivers to OpenCL's loaders.
const driversEnv = "OCL_ICD_VENDORS"

// probeTimeoutEnv names how long a driver may take to answer. A driver that builds its first kernel
// takes seconds.
const (
	probeTimeoutEnv = "CLGRAD_PROBE_TIMEOUT"
	probeTimeout    = time.Minute
)

// driver is a file that registers an OpenCL driver with the loader.
type driver struct {
	path string
	text string // the name of the driver's library
}

func (d driver) String() string { return fmt.Sprintf("%s (%s)", d.path, d.text) }

// driverFolder returns the folder in which the loader looks for drivers.
func driverFolder() string {
	if dir := os.Getenv(driversEnv); dir != "" {
		return dir
	}
	return "/etc/OpenCL/vendors"
}

// mostName bounds a file that registers a driver, in bytes.
const mostName = 1 << 16

// registeredDrivers returns the drivers that the loader would load. Its variable may name one file.
func registeredDrivers() []driver {
	paths, _ := filepath.Glob(filepath.Join(driverFolder(), "*.icd")) // a pattern that is right
	if info, err := os.Stat(driverFolder()); err == nil && !info.IsDir() {
		paths = []string{driverFolder()}
	}
	var list []driver
	for _, path := range paths {
		text, err := regular.Read(path, mostName)
		if err != nil {
			text = []byte(cli.Sentence(err))
		}
		list = append(list, driver{path, strings.TrimSpace(string(text))})
	}
	return list
}

// probed is what a probe found.
type probed struct {
	runtime string // path, or ""
	missing string // why there is no device, or ""
	devices []clrt.Info
	unfit   map[string]string // why, by the key of a device that cannot be used
	files   []string
	failure string // why it did not come to its end, or ""
}

// brokenDriver is a driver that is left out.
type brokenDriver struct{ name, why string }

func (b brokenDriver) String() string { return fmt.Sprintf("the OpenCL driver %s: %s", b.name, b.why) }

// openCL is what is known of the drivers after they were probed.
type openCL struct {
	drivers []driver
	broken  []brokenDriver
	unfit   map[string]string // why, by the key of a device of another driver
	usable  bool              // this process may load what is left
	runtime string            // path, if it was seen
	err     error             // the probe was interrupted
}

// checkedOpenCL probes the drivers, once in the life of the process, and sees to it that this
// process loads those alone that work.
var checkedOpenCL = sync.OnceValue(checkOpenCL)

func checkOpenCL() *openCL {
	c := &openCL{drivers: registeredDrivers(), unfit: map[string]string{}}
	memory := newProbeMemory(c.drivers)
	if memory.works() {
		c.usable = true
		return c
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	all := probe(ctx, "")
	c.runtime = all.runtime
	switch {
	case ctx.Err() != nil:
		c.err = cli.Interrupted(errors.New("interrupted while the OpenCL drivers were probed"))
	case all.failure == "":
		c.usable, c.unfit = true, all.unfit
		if len(all.devices) > 0 && len(all.unfit) == 0 {
			memory.remember(all.files)
		}
	case len(c.drivers) < 2 || all.runtime == "": // no driver can be distinguished from the rest
		c.broken = []brokenDriver{{c.only(), all.failure}}
	default:
		c.sortOut(ctx)
	}
	return c
}

// only names what was probed where there is one driver at most, or the library that loads drivers
// failed.
func (c *openCL) only() string {
	switch path := os.Getenv(clrt.OpenCLEnv); {
	case path != "":
		return path
	case c.runtime == "":
		return "libOpenCL.so.1"
	case len(c.drivers) == 1:
		return c.drivers[0].String()
	}
	return c.runtime
}

// sortOut probes each driver by itself, all at once, and leaves out those that fail.
func (c *openCL) sortOut(ctx context.Context) {
	found := make([]probed, len(c.drivers))
	var wait sync.WaitGroup
	for i, d := range c.drivers {
		wait.Go(func() {
			dir, err := folderOf(d)
			if err != nil {
				found[i].failure = cli.Sentence(err)
				return
			}
			defer os.RemoveAll(dir)
			found[i] = probe(ctx, dir)
		})
	}
	wait.Wait()
	var good []driver
	for i, d := range c.drivers {
		if why := found[i].failure; why != "" {
			c.broken = append(c.broken, brokenDriver{d.String(), why})
			continue
		}
		good = append(good, d)
		for name, why := range found[i].unfit {
			c.unfit[name] = why
		}
	}
	if len(good) == 0 {
		return
	}
	dir, err := folderOf(good...)
	if err != nil {
		c.err = err
		return
	}
	defer os.RemoveAll(dir)
	c.usable = true
	// The loader looks into the folder once, when it is first asked.
	before, was := os.LookupEnv(driversEnv)
	os.Setenv(driversEnv, dir)
	_, _ = clrt.List() // who asks next gets the error
	if was {
		os.Setenv(driversEnv, before)
	} else {
		os.Unsetenv(driversEnv)
	}
}

// folderOf returns a new folder that registers these drivers alone.
func folderOf(drivers ...driver) (string, error) {
	dir, err := os.MkdirTemp("", "clgrad-drivers-")
	if err != nil {
		return "", err
	}
	for _, d := range drivers {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(d.path)), []byte(d.text+"\n"), 0o600); err != nil {
			os.RemoveAll(dir)
			return "", err
		}
	}
	return dir, nil
}

// deviceKey names a device in probes of all drivers and of one: the number of a platform differs
// between them.
func deviceKey(i clrt.Info) string { return fmt.Sprintf("%s %d", i, i.DeviceIndex) }

// probeLimit returns how long a driver may take to answer. The error names the variable whose value
// is no time.
func probeLimit() (time.Duration, error) {
	text := os.Getenv(probeTimeoutEnv)
	if text == "" {
		return probeTimeout, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 {
		return 0, fmt.Errorf("%s is %q: it must be a time above 0, such as 30s or 5m", probeTimeoutEnv, text)
	}
	return limit, nil
}

func init() {
	environment.Register(probeTimeoutEnv, func() error {
		_, err := probeLimit()
		return err
	})
}

// probe runs this program as a process of its own that uses the drivers of a folder, "" for those
// that the loader finds.
func probe(ctx context.Context, dir string) probed {
	p := probed{unfit: map[string]string{}}
	self, err := os.Executable()
	if err != nil {
		p.failure = cli.Sentence(err)
		return p
	}
	limit, err := probeLimit()
	if err != nil {
		p.failure = cli.Sentence(err)
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, probeCommand)
	cmd.Args[0] = os.Args[0]
	cmd.Env = os.Environ()
	if dir != "" {
		cmd.Env = append(cmd.Env, driversEnv+"="+dir)
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = time.Second // a process that the driver left behind may hold the pipes
	runErr := cmd.Run()
	doing, done := "started", false
	for _, l := range readProbe(&out) {
		if l.Doing != "" {
			doing = l.Doing
		}
		p.runtime += l.Runtime
		p.missing += l.Missing
		if l.Device != nil {
			p.devices = append(p.devices, *l.Device)
			if l.Error != "" {
				p.unfit[deviceKey(*l.Device)] = l.Error
			}
		}
		p.files = append(p.files, l.Files...)
		done = done || l.Done
	}
	switch {
	case done: // what a driver does when the process ends is not looked at
	case ctx.Err() == context.DeadlineExceeded:
		p.failure = fmt.Sprintf("it did not answer within %v when it %s", limit, doing)
	default:
		p.failure = fmt.Sprintf("it crashed when it %s (%s)", doing, firstLine(said.String(), runErr))
	}
	return p
}

// firstLine returns what a process said first, or how it ended.
func firstLine(said string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if line == "" && err != nil {
		line = err.Error()
	}
	return line
}

// advice says what a driver that fails may need, "" if nothing is known.
func (b brokenDriver) advice() string {
	if !strings.Contains(b.name, "pocl") {
		return ""
	}
	if _, err := exec.LookPath("ld"); err != nil {
		return "PoCL needs a linker: put ld on PATH (Debian: apt-get install binutils)"
	}
	if !exists("/sys/devices/system/cpu") {
		return "PoCL needs /sys: mount it"
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
