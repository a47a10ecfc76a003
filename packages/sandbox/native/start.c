/* The entry of the program, and the few things that a compiler or a C library would bring along. */
#include "sys.h"

int run_program(int count, char **arguments);

__attribute__((noreturn, used)) void start_program(long *stack)
{
	leave(run_program((int)stack[0], (char **)(stack + 1)));
}

#if defined(__x86_64__)
__asm__(".text\n.global _start\n_start:\n"
	"xor %ebp, %ebp\n"
	"mov %rsp, %rdi\n"
	"and $-16, %rsp\n"
	"call start_program\n"
	/* A child that shares our memory must not share our stack: it runs `run(argument)` on one of its own. */
	".global clone_shared\nclone_shared:\n"
	"mov %rcx, %r9\n"
	"mov %rdx, %r8\n"
	"xor %edx, %edx\n"
	"xor %r10d, %r10d\n"
	"mov $56, %eax\n"
	"syscall\n"
	"test %rax, %rax\n"
	"jnz 1f\n"
	"xor %ebp, %ebp\n"
	"mov %r9, %rdi\n"
	"call *%r8\n"
	"mov %eax, %edi\n"
	"mov $60, %eax\n"
	"syscall\n"
	"1: ret\n");
#else
__asm__(".text\n.global _start\n_start:\n"
	"mov x29, #0\n"
	"mov x30, #0\n"
	"mov x0, sp\n"
	"and sp, x0, #-16\n"
	"bl start_program\n"
	".global clone_shared\nclone_shared:\n"
	"mov x9, x2\n"
	"mov x10, x3\n"
	"mov x2, #0\n"
	"mov x3, #0\n"
	"mov x4, #0\n"
	"mov x8, #220\n"
	"svc 0\n"
	"cbnz x0, 1f\n"
	"mov x29, #0\n"
	"mov x0, x10\n"
	"blr x9\n"
	"mov x8, #93\n"
	"svc 0\n"
	"1: ret\n");
#endif

void leave(int status)
{
	for (;;)
		CALL(exit, status);
}

void *memcpy(void *to, const void *from, size_t length)
{
	u8 *target = to;
	const u8 *source = from;
	while (length-- > 0)
		*target++ = *source++;
	return to;
}

void *memmove(void *to, const void *from, size_t length)
{
	u8 *target = to;
	const u8 *source = from;
	if (target <= source)
		return memcpy(to, from, length);
	while (length-- > 0)
		target[length] = source[length];
	return to;
}

void *memset(void *to, int value, size_t length)
{
	u8 *target = to;
	while (length-- > 0)
		*target++ = (u8)value;
	return to;
}

int memcmp(const void *left, const void *right, size_t length)
{
	const u8 *a = left, *b = right;
	for (; length > 0; length--, a++, b++)
		if (*a != *b)
			return *a < *b ? -1 : 1;
	return 0;
}
