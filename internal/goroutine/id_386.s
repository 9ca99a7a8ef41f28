#include "textflag.h"

// func ID() uintptr: the address of the runtime's g.
TEXT ·ID(SB), NOSPLIT, $0-4
	MOVL (TLS), AX
	MOVL AX, ret+0(FP)
	RET
