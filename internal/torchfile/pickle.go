package torchfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// The values of a pickle: nil, bool, int64, float64, string, *tuple, *list, *dict, global, storage and
// tensor.
type (
	tuple struct{ items []any }
	list  struct{ items []any }
	dict  struct{ keys, values []any }
	// global is a name of Python's. Nothing looks it up, and nothing is called.
	global struct{ module, name string }
	// mark is where a list of arguments begins on the stack.
	mark struct{}
)

// mostDepth is how many values may lie in each other, and mostItems how many a pickle may make.
const (
	mostDepth = 64
	mostItems = 1 << 22
)

// machine runs the instructions of a pickle, those that lists of tensors are made of. Objects are made
// of the names on the list of call, by this package.
type machine struct {
	in    []byte
	at    int
	stack []any
	memo  map[uint64]any
	items int
}

// unpickle returns the value of a pickle of protocols 2 to 5.
func unpickle(in []byte) (any, error) {
	m := &machine{in: in, memo: map[uint64]any{}}
	for {
		op, err := m.bytes(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			if len(m.stack) != 1 {
				return nil, fmt.Errorf("the pickle ends with %d values", len(m.stack))
			}
			return m.stack[0], nil
		}
		if m.items++; m.items > mostItems {
			return nil, fmt.Errorf("the pickle has more than %d instructions", mostItems)
		}
		if err := m.do(op[0]); err != nil {
			return nil, err
		}
	}
}

func (m *machine) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(m.in)-m.at) {
		return nil, fmt.Errorf("the pickle ends in the middle of an instruction")
	}
	b := m.in[m.at : m.at+int(n)]
	m.at += int(n)
	return b, nil
}

// number reads an unsigned number of n bytes.
func (m *machine) number(n uint64) (uint64, error) {
	b, err := m.bytes(n)
	if err != nil {
		return 0, err
	}
	var whole [8]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[:]), nil
}

// text reads a string whose length is a number of n bytes.
func (m *machine) text(n uint64) (string, error) {
	size, err := m.number(n)
	if err != nil {
		return "", err
	}
	b, err := m.bytes(size)
	return string(b), err
}

func (m *machine) line() (string, error) {
	n := bytes.IndexByte(m.in[m.at:], '\n')
	if n < 0 {
		return "", fmt.Errorf("the pickle ends in the middle of a name")
	}
	s := string(m.in[m.at : m.at+n])
	m.at += n + 1
	return s, nil
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

func (m *machine) pop() (any, error) {
	n := len(m.stack)
	if n == 0 {
		return nil, fmt.Errorf("the pickle takes a value that is not there")
	}
	v := m.stack[n-1]
	m.stack = m.stack[:n-1]
	return v, nil
}

// popTo returns the values behind the last mark.
func (m *machine) popTo() ([]any, error) {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, ok := m.stack[i].(mark); ok {
			items := append([]any(nil), m.stack[i+1:]...)
			m.stack = m.stack[:i]
			return items, nil
		}
	}
	return nil, fmt.Errorf("the pickle takes values from a mark that is not there")
}

// numbered are instructions with a number, of so many bytes.
var numbered = map[byte]uint64{'K': 1, 'M': 2, 'J': 4, 'q': 1, 'r': 4, 'h': 1, 'j': 4}

// texts are instructions with a string, whose length has so many bytes.
var texts = map[byte]uint64{'X': 4, 0x8c: 1, 0x8d: 8, 'U': 1, 'T': 4, 'C': 1, 'B': 4, 0x8e: 8}

func (m *machine) do(op byte) error {
	if n, ok := numbered[op]; ok {
		v, err := m.number(n)
		if err != nil {
			return err
		}
		return m.withNumber(op, v)
	}
	if n, ok := texts[op]; ok {
		s, err := m.text(n)
		m.push(s)
		return err
	}
	switch op {
	case 0x80: // the protocol
		v, err := m.number(1)
		if err == nil && (v < 2 || v > 5) {
			err = fmt.Errorf("the pickle is of protocol %d: those of 2 to 5 are read", v)
		}
		return err
	case 0x95: // a frame, which is no more than its length
		_, err := m.number(8)
		return err
	case '(':
		m.push(mark{})
	case 'N':
		m.push(nil)
	case 0x88, 0x89:
		m.push(op == 0x88)
	case '}':
		m.push(&dict{})
	case ']':
		m.push(&list{})
	case ')':
		m.push(&tuple{})
	case 'G':
		b, err := m.bytes(8)
		if err != nil {
			return err
		}
		m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case 0x8a:
		return m.long()
	case 0x94:
		return m.remember(uint64(len(m.memo)))
	case 'c':
		module, err := m.line()
		if err != nil {
			return err
		}
		name, err := m.line()
		m.push(global{module, name})
		return err
	default:
		return m.make(op)
	}
	return nil
}

// withNumber does an instruction with a number.
func (m *machine) withNumber(op byte, v uint64) error {
	switch op {
	case 'q', 'r':
		return m.remember(v)
	case 'h', 'j':
		x, ok := m.memo[v]
		if !ok {
			return fmt.Errorf("the pickle takes value %d again, which it has not made", v)
		}
		m.push(x)
	case 'J':
		m.push(int64(int32(v)))
	default:
		m.push(int64(v))
	}
	return nil
}

// remember keeps the value on top, to be taken again.
func (m *machine) remember(at uint64) error {
	if len(m.stack) == 0 {
		return fmt.Errorf("the pickle keeps a value that is not there")
	}
	m.memo[at] = m.stack[len(m.stack)-1]
	return nil
}

// long reads an integer of any length, of which 64 bits are held.
func (m *machine) long() error {
	n, err := m.number(1)
	if err != nil {
		return err
	}
	b, err := m.bytes(n)
	if err != nil {
		return err
	}
	if n > 8 {
		return fmt.Errorf("the pickle has an integer of %d bytes", n)
	}
	v := int64(0)
	for i, digit := range b {
		v |= int64(digit) << (8 * i)
	}
	if n > 0 && n < 8 && b[n-1] >= 0x80 {
		v -= 1 << (8 * n)
	}
	m.push(v)
	return nil
}

// make does an instruction that makes a value of others.
func (m *machine) make(op byte) error {
	switch op {
	case 't', 'u', 'e': // of those from a mark on
		items, err := m.popTo()
		if err != nil {
			return err
		}
		switch op {
		case 't':
			m.push(&tuple{items})
			return nil
		case 'u':
			return m.set(items)
		}
		return m.append(items)
	case 0x85, 0x86, 0x87: // of the last one, two or three
		n := int(op-0x85) + 1
		if len(m.stack) < n {
			return fmt.Errorf("the pickle makes a tuple of values that are not there")
		}
		items := append([]any(nil), m.stack[len(m.stack)-n:]...)
		m.stack = m.stack[:len(m.stack)-n]
		m.push(&tuple{items})
		return nil
	}
	if !strings.ContainsRune("0Qas\u0093R\u0081b", rune(op)) {
		return fmt.Errorf("the pickle has an instruction that no state dict has: %#x", op)
	}
	last, err := m.pop()
	if err != nil {
		return err
	}
	switch op {
	case '0':
		return nil
	case 'Q': // what lies outside of the pickle
		s, err := storageOf(last)
		m.push(s)
		return err
	case 'a':
		return m.append([]any{last})
	}
	before, err := m.pop()
	if err != nil {
		return err
	}
	switch op {
	case 's':
		return m.set([]any{before, last})
	case 0x93: // a name by two strings
		module, ok := before.(string)
		name, ok2 := last.(string)
		if !ok || !ok2 {
			return fmt.Errorf("the pickle has a name that is no string")
		}
		m.push(global{module, name})
		return nil
	case 'R', 0x81: // a call, or an object
		v, err := call(before, last)
		m.push(v)
		return err
	}
	m.push(before) // attributes, such as those of an OrderedDict: nothing that a tensor is made of
	return nil
}

func (m *machine) set(items []any) error {
	if len(m.stack) == 0 || len(items)%2 != 0 {
		return fmt.Errorf("the pickle sets values of a dictionary that is not there")
	}
	d, ok := m.stack[len(m.stack)-1].(*dict)
	if !ok {
		return fmt.Errorf("the pickle sets values of what is no dictionary")
	}
	for i := 0; i < len(items); i += 2 {
		d.keys, d.values = append(d.keys, items[i]), append(d.values, items[i+1])
	}
	return nil
}

func (m *machine) append(items []any) error {
	if len(m.stack) == 0 {
		return fmt.Errorf("the pickle appends to a list that is not there")
	}
	l, ok := m.stack[len(m.stack)-1].(*list)
	if !ok {
		return fmt.Errorf("the pickle appends to what is no list")
	}
	l.items = append(l.items, items...)
	return nil
}

// call returns what a call of Python's gives, of the few that state dicts have.
func call(f, arguments any) (any, error) {
	name, ok := f.(global)
	args, ok2 := arguments.(*tuple)
	if !ok || !ok2 {
		return nil, fmt.Errorf("the pickle calls what is no function")
	}
	a := args.items
	switch name.module + "." + name.name {
	case "collections.OrderedDict", "builtins.dict":
		return &dict{}, nil
	case "torch.Size":
		if len(a) == 1 {
			return a[0], nil
		}
	case "torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state":
		if len(a) > 0 {
			return a[0], nil
		}
	case "torch._utils._rebuild_tensor_v2":
		return rebuilt(a, nil)
	case "torch._utils._rebuild_tensor_v3":
		if len(a) > 6 {
			return rebuilt(a, a[6])
		}
	default:
		return nil, fmt.Errorf("it has an object of %s.%s, which is no part of a state dict: save that, as with torch.save(model.state_dict(), path)",
			strings.ToValidUTF8(name.module, "?"), strings.ToValidUTF8(name.name, "?"))
	}
	return nil, fmt.Errorf("the pickle calls %s.%s with too few values", name.module, name.name)
}
