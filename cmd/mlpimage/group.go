package main

// The groups of flags in a command's help, beside that of devices.
const (
	groupLearn = "What to learn"
	groupStop  = "When to stop"
	groupWrite = "What to write and show"
)
