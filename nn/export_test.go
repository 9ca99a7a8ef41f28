package nn

// Snake is for tests.
var Snake = snake
