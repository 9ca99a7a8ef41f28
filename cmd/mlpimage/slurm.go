package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/regular"
)

// The variables that Slurm gives a task of an array job: https://slurm.schedmd.com/job_array.html.
const (
	slurmJob   = "SLURM_ARRAY_JOB_ID"
	slurmID    = "SLURM_ARRAY_TASK_ID"
	slurmMin   = "SLURM_ARRAY_TASK_MIN"
	slurmMax   = "SLURM_ARRAY_TASK_MAX"
	slurmStep  = "SLURM_ARRAY_TASK_STEP"
	slurmCount = "SLURM_ARRAY_TASK_COUNT"
)

// slurmTask is this task of an array job and the extent of the array. Slurm does not list the tasks
// between min and max.
type slurmTask struct{ id, min, max, step, count int }

// slurmShard returns the share of this task: its position among the tasks of its array job, and
// their count.
func slurmShard(ctx context.Context, out string) (shard, error) {
	var t slurmTask
	for _, v := range []struct {
		name string
		to   *int
	}{{slurmID, &t.id}, {slurmMin, &t.min}, {slurmMax, &t.max}, {slurmStep, &t.step}, {slurmCount, &t.count}} {
		n, err := envNumber(v.name)
		if err != nil {
			return shard{}, err
		}
		*v.to = n
	}
	if t.count < 1 || t.step < 1 || t.id < t.min || t.id > t.max {
		return shard{}, fmt.Errorf("task %d of an array of %d tasks from %d to %d in steps of %d: that cannot be: give --shard I/N", t.id, t.count, t.min, t.max, t.step)
	}
	if t.step == 1 && t.max-t.min == t.count-1 { // no gaps
		return shard{t.id - t.min, t.count}, nil
	}
	tasks, err := slurmTasks(ctx, t, out)
	if t.complete(tasks) {
		return shard{slices.Index(tasks, t.id), t.count}, nil
	}
	// A list such as 1-3:2,2,7 has the ends, the step and the count of 1-7:2: no task that is known
	// may be off the steps.
	regular := t.max-t.min == (t.count-1)*t.step
	for _, id := range append(tasks, t.id) {
		regular = regular && (id-t.min)%t.step == 0
	}
	if regular {
		return shard{(t.id - t.min) / t.step, t.count}, nil
	}
	if err == nil {
		err = fmt.Errorf("it knows %d of %d still", len(tasks), t.count)
	}
	return shard{}, fmt.Errorf("the tasks of this array job have gaps between them, and Slurm does not say which they are (%w): give --shard I/N", err)
}

// complete reports whether a sorted list is that of the task's job.
func (t slurmTask) complete(tasks []int) bool {
	return len(tasks) == t.count && tasks[0] == t.min && tasks[t.count-1] == t.max && slices.Contains(tasks, t.id)
}

// mostTasks bounds that list in bytes: maxTasks numbers of at most ten digits.
const mostTasks = 11 * maxTasks

// slurmTasks returns the tasks of the job, sorted. Slurm forgets tasks minutes after their end: the
// first task of the job writes the list next to the results, for those that start later or again.
func slurmTasks(ctx context.Context, t slurmTask, out string) ([]int, error) {
	job := os.Getenv(slurmJob)
	if _, err := strconv.Atoi(job); err != nil {
		return nil, fmt.Errorf("%s is %q", slurmJob, job)
	}
	path := filepath.Join(out, ".slurm-array-"+job)
	if text, err := regular.Read(path, mostTasks); err == nil {
		if tasks, err := parseTasks(strings.TrimSpace(string(text))); err == nil && t.complete(tasks) {
			return tasks, nil // of this job: numbers of jobs come again, and then the list is rewritten
		}
	}
	tasks, err := askSlurm(ctx, job)
	if err != nil || !t.complete(tasks) {
		return tasks, err
	}
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(tasks), " ", ","), "[]")
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	return tasks, atomicfile.Write(path, func(w io.Writer) error { _, err := fmt.Fprintln(w, text); return err })
}

// arrayTasks finds the tasks of a record of scontrol. A record has one task that was started, or
// those that were not.
var arrayTasks = regexp.MustCompile(`(?m) ArrayTaskId=([^ %\n]+)`)

// askSlurm returns the tasks of a job that Slurm knows still, sorted.
func askSlurm(ctx context.Context, job string) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "scontrol", "--oneliner", "show", "job", job)
	cmd.Env = append(os.Environ(), "SLURM_BITSTR_LEN=0") // or long lists end in "..."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return nil, fmt.Errorf("scontrol: %s", strings.TrimSpace(strings.ReplaceAll(stderr.String(), "\n", " ")))
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("there is no scontrol here")
	case err != nil:
		return nil, err
	}
	var lists []string
	for _, m := range arrayTasks.FindAllStringSubmatch(string(text), -1) {
		lists = append(lists, m[1])
	}
	return parseTasks(strings.Join(lists, ","))
}

// maxTasks is above what Slurm lets an array have (MaxArraySize, at most 4,000,001).
const maxTasks = 1 << 22

// parseTasks reads a list such as 1,3,5-9,10-16:3 and returns its numbers, sorted, each once.
func parseTasks(text string) ([]int, error) {
	var tasks []int
	for part := range strings.SplitSeq(text, ",") {
		span, by, stepped := strings.Cut(part, ":")
		from, to, isRange := strings.Cut(span, "-")
		low, err := strconv.Atoi(from)
		high, step := low, 1
		if isRange && err == nil {
			high, err = strconv.Atoi(to)
		}
		if stepped && err == nil {
			step, err = strconv.Atoi(by)
		}
		if err != nil || low < 0 || high < low || step < 1 || (high-low)/step >= maxTasks-len(tasks) {
			return nil, fmt.Errorf("%.40q is no list of tasks", text)
		}
		for n := low; ; n += step {
			tasks = append(tasks, n)
			if n > high-step {
				break
			}
		}
	}
	slices.Sort(tasks)
	return slices.Compact(tasks), nil
}
