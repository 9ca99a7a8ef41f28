package main

import (
	"bytes"
	"crypto/rand"
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/tensor"
)

// slurm is a cluster of one node, this machine, which lives as long as a test.
type slurm struct {
	t   *testing.T
	dir string
	env []string
}

const slurmConf = `ClusterName=test
SlurmctldHost=localhost
SlurmctldPort=%[2]d
SlurmdPort=%[3]d
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0
ReturnToService=2
MinJobAge=2
KillWait=20
NodeName=localhost CPUs=2 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
`

// startSlurm starts a cluster, or skips the test where it cannot. CLGRAD_REQUIRE_SLURM makes that a
// failure.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	giveUp := func(format string, args ...any) {
		t.Helper()
		if os.Getenv("CLGRAD_REQUIRE_SLURM") != "" {
			t.Fatalf(format, args...)
		}
		t.Skipf(format, args...)
	}
	if os.Getenv("CLGRAD_MORE") == "" {
		t.Skip("make test-more runs a real Slurm")
	}
	if os.Geteuid() != 0 {
		giveUp("slurmd needs root")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			giveUp("no %s here: scripts/setup-more.sh installs it", program)
		}
	}
	// munged refuses a socket in a folder that others may write to, anywhere on the way: the test's
	// own folder may be deep.
	dir, err := os.MkdirTemp("/run", "mlpimage-slurm-")
	if err != nil {
		giveUp("%v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &slurm{t: t, dir: dir, env: append(os.Environ(), "SLURM_CONF="+dir+"/slurm.conf")}
	key := make([]byte, 1024)
	rand.Read(key)
	conf := fmt.Sprintf(slurmConf, dir, freePort(t), freePort(t))
	for name, text := range map[string]string{"slurm.conf": conf, "cgroup.conf": "CgroupAutomount=no\n", "munge.key": string(key)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.daemon("munged", "--foreground", "--force", "--socket="+dir+"/munge.socket", "--key-file="+dir+"/munge.key", "--log-file="+dir+"/munge.log",
		"--pid-file="+dir+"/munge.pid", "--seed-file="+dir+"/munge.seed")
	for range 100 {
		if exists(dir + "/munge.socket") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.daemon("slurmctld", "-D", "-i")
	s.daemon("slurmd", "-D", "-N", "localhost")
	for range 150 {
		if out, _ := s.command("sinfo", "-h", "-o", "%T").Output(); strings.TrimSpace(string(out)) == "idle" {
			return s
		}
		time.Sleep(100 * time.Millisecond)
	}
	logs := ""
	for _, name := range []string{"munge.log", "slurmctld.log", "slurmd.log"} {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		logs += name + ":\n" + string(text[max(0, len(text)-2000):])
	}
	giveUp("Slurm does not come up:\n%s", logs)
	return nil
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (s *slurm) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	return cmd
}

// daemon starts a program that ends with the test.
func (s *slurm) daemon(name string, args ...string) {
	s.t.Helper()
	cmd := s.command(name, args...)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		kill.Stop()
	})
}

// do runs a command of Slurm and returns what it prints.
func (s *slurm) do(name string, args ...string) string {
	s.t.Helper()
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// until waits for a condition, a minute at most.
func (s *slurm) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			log, _ := os.ReadFile(s.dir + "/slurmctld.log")
			s.t.Fatalf("not within a minute: %s\n%s\n%s", what, s.do("squeue", "-r"), log[max(0, len(log)-4000):])
		}
	}
}

// wait waits until no job is left.
func (s *slurm) wait() {
	s.t.Helper()
	s.until("all jobs end", func() bool { return s.do("squeue", "-h") == "" })
}

// jobScript returns the sbatch script of docs/cluster.md with changes to it.
func jobScript(t *testing.T, changes ...string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```sh\n(#!/bin/bash\n#SBATCH.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("no job script in docs/cluster.md")
	}
	script := string(m[1])
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(script, changes[i]) {
			t.Fatalf("no %q in the job script", changes[i])
		}
		script = strings.ReplaceAll(script, changes[i], changes[i+1])
	}
	return script
}

// TestSlurm runs the job script of docs/cluster.md under a real Slurm: whole, with gaps, requeued
// in mid-run, cancelled in mid-run and submitted again. Every image is done once, with the bits of
// a run that nothing disturbed.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	t.Setenv(tensor.DeviceEnv, "cpu")
	s.env = append(s.env, tensor.DeviceEnv+"=cpu")
	dir := t.TempDir()
	if err := drawInputs(dir); err != nil {
		t.Fatal(err)
	}
	photos := filepath.Join(dir, "photos")
	if err := os.Mkdir(photos, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for i, name := range names {
		raw, err := os.ReadFile(filepath.Join(dir, []string{"good.png", "other.png", "deep.png"}[i%3]))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(photos, name+".png"), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	settings := func(steps int) []string {
		return []string{"--steps", fmt.Sprint(steps), "--encoding", "hash", "--levels", "3", "--batch", "64", "--checkpoint-every", "200"}
	}
	const short, long = 300, 12000
	want := map[int]string{}
	for _, steps := range []int{short, long} {
		want[steps] = filepath.Join(dir, fmt.Sprint("alone", steps))
		var text bytes.Buffer
		if code := run(append([]string{"batch", photos, "-o", want[steps]}, settings(steps)...), &text, &text); code != cli.ExitOK {
			t.Fatal(text.String())
		}
	}
	// The program of the job script is this test's.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	os.Mkdir(bin, 0o755)
	if err := os.Symlink(self, filepath.Join(bin, "mlpimage")); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+bin+":"+os.Getenv("PATH"))
	submit := func(array, out string, steps int) string {
		t.Helper()
		script := jobScript(t, "mlpimage batch photos -o fits", "mlpimage batch "+photos+" -o "+out+" "+strings.Join(settings(steps), " "))
		path := filepath.Join(dir, "job.sh")
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		return s.do("sbatch", "--parsable", "--array="+array, "--gres=none", "--cpus-per-task=1", "--mem=0", "--output="+dir+"/%A_%a.txt", "--open-mode=append", path)
	}
	output := func(pattern string) string {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		all := ""
		for _, f := range files {
			text, _ := os.ReadFile(f)
			all += f + ":\n" + string(text)
		}
		return all
	}
	// check compares results with those of the undisturbed run. Each image is done by one task.
	check := func(what, job, out string, steps int) {
		t.Helper()
		for _, name := range names {
			for _, ext := range []string{".png", ".npz"} {
				a, err := os.ReadFile(filepath.Join(want[steps], name+".mlp"+ext))
				if err != nil {
					t.Fatal(err)
				}
				if b, err := os.ReadFile(filepath.Join(out, name+".mlp"+ext)); err != nil || !bytes.Equal(a, b) {
					t.Errorf("%s: %s%s is not that of an undisturbed run (%v)", what, name, ext, err)
				}
			}
		}
		left, _ := filepath.Glob(filepath.Join(out, "*.ckpt"))
		if len(left) > 0 {
			t.Errorf("%s: left over: %q", what, left)
		}
		done := regexp.MustCompile(`(?m)^([a-g])\.png: done,`).FindAllStringSubmatch(output(job+"_*.txt"), -1)
		count := map[string]int{}
		for _, m := range done {
			count[m[1]]++
		}
		for _, name := range names {
			if count[name] != 1 {
				t.Errorf("%s: %s was done %d times\n%s", what, name, count[name], output(job+"_*.txt"))
			}
		}
	}

	// Whole and with gaps at the same time; of the second, the first tasks are forgotten before the
	// last starts.
	whole := submit("0-1", dir+"/whole", short)
	gaps := submit("1,3,7,20%1", dir+"/gaps", short)
	s.wait()
	check("whole", whole, dir+"/whole", short)
	check("gaps", gaps, dir+"/gaps", short)
	for i := range 4 {
		if !exists(fmt.Sprintf("%s/gaps/summary-%d-of-4.csv", dir, i)) {
			t.Errorf("no summary of task %d of 4\n%s", i, output(gaps+"_*.txt"))
		}
	}

	// Requeued in mid-run: the same task resumes.
	out := dir + "/requeued"
	job := submit("2,5", out, long)
	inWork := func() bool {
		files, _ := filepath.Glob(filepath.Join(out, "*.ckpt"))
		return len(files) == 2
	}
	s.until("two images are in work", inWork)
	s.do("scontrol", "requeue", job+"_2")
	s.until("the task is in the queue again", func() bool {
		return strings.Contains(s.do("scontrol", "show", "job", job+"_2"), "JobState=PENDING")
	})
	// Slurm would hold it back for two minutes. Within the second in which it was stopped, it would
	// not start.
	time.Sleep(2 * time.Second)
	s.do("scontrol", "update", "JobId="+job+"_2", "StartTime=now")
	// The output says that it runs: Slurm may have forgotten a task that has ended since it was
	// last asked.
	s.until("the task runs again", func() bool { return strings.Count(output(job+"_2.txt"), "device: ") == 2 })
	s.wait()
	check("requeued", job, out, long)

	// Cancelled in mid-run, and submitted again with another list of tasks.
	out = dir + "/cancelled"
	first := submit("1-2", out, long)
	s.until("two images are in work", inWork)
	s.do("scancel", first)
	s.wait()
	summary, err := os.ReadFile(filepath.Join(out, "summary-0-of-2.csv"))
	if err != nil {
		t.Fatalf("%v\n%s", err, output(first+"_*.txt"))
	}
	rows, err := csv.NewReader(bytes.NewReader(summary)).ReadAll()
	if err != nil || len(rows) < 2 || rows[1][1] != "left" {
		t.Fatalf("the cancelled task says %q (%v)", rows, err)
	}
	second := submit("4,6,9", out, long)
	s.wait()
	check("cancelled", second, out, long)
}
