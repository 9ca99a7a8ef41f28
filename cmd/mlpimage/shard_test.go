package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeScontrol puts a scontrol on PATH that prints text, or fails if it is "".
func fakeScontrol(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$SLURM_BITSTR_LEN $*\" = '0 --oneliner show job 8' ] || exit 3\ncat <<'END'\n" + text + "\nEND\n"
	if text == "" {
		script = "#!/bin/sh\necho slurm_load_jobs error: Invalid job id specified >&2; exit 1\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "scontrol"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// setArray sets the variables that Slurm gives task id of a job that was started with --array=spec,
// as 22.05 does.
func setArray(t *testing.T, spec string, id int) {
	t.Helper()
	tasks, err := parseTasks(spec)
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if _, by, ok := strings.Cut(spec, ":"); ok {
		fmt.Sscan(by, &step)
	}
	for name, n := range map[string]int{slurmJob: 8, slurmID: id, slurmMin: tasks[0], slurmMax: tasks[len(tasks)-1], slurmStep: step, slurmCount: len(tasks)} {
		t.Setenv(name, fmt.Sprint(n))
	}
}

// records is what scontrol says of tasks, each started, but for the list of those that wait.
func records(waiting string, started ...int) string {
	lines := []string{}
	if waiting != "" {
		lines = append(lines, "JobId=8 ArrayJobId=8 ArrayTaskId="+waiting+" ArrayTaskThrottle=1 JobName=a ArrayTaskId JobState=PENDING")
	}
	for _, id := range started {
		lines = append(lines, fmt.Sprintf("JobId=%d ArrayJobId=8 ArrayTaskId=%d JobName=a JobState=COMPLETED", 9+id, id))
	}
	return strings.Join(lines, "\n")
}

// TestSlurmShards: the tasks of an array share out all images, whatever their numbers; where Slurm
// does not say enough, an error says what to give.
func TestSlurmShards(t *testing.T) {
	for _, c := range []struct {
		array, scontrol string
		id              int
		want            string // the shard, or what the error says
	}{
		{"0-3", "", 3, "3/4"},
		{"5-7", "", 7, "2/3"},
		{"7", "", 7, "0/1"},
		{"10-16:3", "", 13, "1/3"},
		{"10-16:3", records("16", 13), 13, "1/3"}, // 10 ended long ago
		{"1,3,7", records("7", 1, 3), 7, "2/3"},
		{"1,3,7", records("3,7%1", 1), 3, "1/3"},
		{"2,5-6,9-15:3,40", records("9-15:3,40%1", 2, 5, 6), 12, "4/7"},
		{"1-3:2,2,7", records("", 1, 2, 3, 7), 3, "2/4"},
		{"1-3:2,2,7", records("", 2, 3, 7), 3, "it knows 3 of 4 still): give --shard I/N"},
		{"1-3:2,6,7", "", 6, "Invalid job id specified): give --shard I/N"},
		{"1,3,7", "", 7, "Invalid job id specified): give --shard I/N"},
		{"1,3,7", records("", 7), 7, "it knows 1 of 3 still): give --shard I/N"},
		{"1,3,7", "a message of another day", 7, "is no list of tasks): give --shard I/N"},
	} {
		t.Run(fmt.Sprintf("%s task %d", c.array, c.id), func(t *testing.T) {
			fakeScontrol(t, c.scontrol)
			setArray(t, c.array, c.id)
			s, source, err := parseShard(context.Background(), "", filepath.Join(t.TempDir(), "out"))
			got := fmt.Sprintf("%d/%d", s.index, s.count)
			if err != nil {
				got = err.Error()
			}
			if source != slurmID || !strings.HasSuffix(got, c.want) {
				t.Errorf("%s, from %s; want %s", got, source, c.want)
			}
		})
	}
}

// TestSlurmForgets: what Slurm said to the first task is there for a task that starts when the
// first is forgotten, and the list of another job of the same number is not taken for it.
func TestSlurmForgets(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	ask := func(array string, id int, scontrol string) string {
		fakeScontrol(t, scontrol)
		setArray(t, array, id)
		s, _, err := parseShard(context.Background(), "", out)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%d/%d", s.index, s.count)
	}
	for _, got := range [][2]string{
		{ask("1,3,7", 1, records("3,7", 1)), "0/3"},
		{ask("1,3,7", 7, records("", 7)), "2/3"},
		{ask("1,3,7", 3, ""), "1/3"},
		{ask("1,4,8", 4, records("8", 1, 4)), "1/3"},
		{ask("1,4,8", 8, ""), "2/3"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s, want %s", got[0], got[1])
		}
	}
}

// TestShardOfTask: with the count given, the number of a task is its index: a rerun of some tasks
// does their images.
func TestShardOfTask(t *testing.T) {
	fakeScontrol(t, "")
	for id, want := range map[int]string{1: "1/8", 3: "3/8", 7: "7/8"} {
		setArray(t, "1,3,7", id)
		s, _, err := parseShard(context.Background(), "8", "")
		if got := fmt.Sprintf("%d/%d", s.index, s.count); err != nil || got != want {
			t.Errorf("task %d: %s (%v), want %s", id, got, err, want)
		}
	}
	setArray(t, "1-8", 8)
	if _, _, err := parseShard(context.Background(), "8", ""); err == nil || err.Error() != "shard 8 of 8 (SLURM_ARRAY_TASK_ID): shards are counted from 0 to 7" {
		t.Errorf("err = %v", err)
	}
	t.Setenv(slurmCount, "few")
	if _, _, err := parseShard(context.Background(), "", ""); err == nil || !strings.Contains(err.Error(), `SLURM_ARRAY_TASK_COUNT is "few": it must be a number`) {
		t.Errorf("err = %v", err)
	}
}

func FuzzParseTasks(f *testing.F) {
	for _, s := range []string{"1", "1,3,7", "0-9", "10-16:3,1", "9-1", "1-99999999", "1,,2", "0-9223372036854775807:9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tasks, err := parseTasks(text)
		if err != nil {
			return
		}
		if len(tasks) == 0 || len(tasks) > maxTasks || tasks[0] < 0 || !slices.IsSorted(tasks) || len(slices.Compact(slices.Clone(tasks))) != len(tasks) {
			t.Errorf("%q: %d tasks", text, len(tasks))
		}
	})
}
