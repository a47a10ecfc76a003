/*
 * System calls without a C library, for x64 and arm64. The constants are our own: the headers of a build machine are
 * often older than the kernel that the program meets.
 */
#ifndef CONFINE_SYS_H
#define CONFINE_SYS_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef unsigned long size_t;
_Static_assert(sizeof(size_t) == 8 && sizeof(long) == 8, "64-bit only");

#define NULL ((void *)0)
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum { EPERM = 1, ENOENT = 2, ESRCH = 3, EINTR = 4, E2BIG = 7, EBADF = 9, ECHILD = 10, EAGAIN = 11, EACCES = 13,
       EFAULT = 14, EEXIST = 17, ENOTDIR = 20, EINVAL = 22, ENAMETOOLONG = 36, ENOSYS = 38, ENOTSOCK = 88, EPROTOTYPE = 91,
       EOPNOTSUPP = 95, ETIMEDOUT = 110, ECONNREFUSED = 111,
       ELOOP = 40, ESTALE = 116 };
enum { SIGKILL = 9, SIGTERM = 15, SIGCHLD = 17, SIGNALS = 64 };
enum { AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 0x100, AT_EMPTY_PATH = 0x1000, AT_RECURSIVE = 0x8000 };
enum { O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_NONBLOCK = 04000, O_CLOEXEC = 02000000, O_PATH = 010000000 };
#if defined(__x86_64__)
enum { O_DIRECTORY = 0200000, O_NOFOLLOW = 0400000 };
#else
enum { O_DIRECTORY = 040000, O_NOFOLLOW = 0100000 };
#endif
enum { S_IFMT = 0170000, S_IFSOCK = 0140000, S_IFLNK = 0120000, S_IFREG = 0100000, S_IFDIR = 0040000 };

#if defined(__x86_64__)
enum { NR_read = 0, NR_write = 1, NR_close = 3, NR_ioctl = 16, NR_socket = 41, NR_connect = 42, NR_sendto = 44,
       NR_recvfrom = 45, NR_sendmsg = 46, NR_recvmsg = 47, NR_shutdown = 48, NR_bind = 49, NR_listen = 50,
       NR_socketpair = 53, NR_setsockopt = 54, NR_accept4 = 288, NR_clone = 56, NR_execve = 59, NR_exit = 60, NR_wait4 = 61, NR_kill = 62, NR_fcntl = 72,
       NR_truncate = 76, NR_fchmod = 91, NR_getpid = 39, NR_getppid = 110, NR_setsid = 112,
       NR_capget = 125, NR_capset = 126, NR_rt_sigaction = 13, NR_rt_sigprocmask = 14, NR_prctl = 157,
       NR_setxattr = 188, NR_lsetxattr = 189, NR_removexattr = 197, NR_fstatfs = 138, NR_clock_gettime = 228,
       NR_openat = 257, NR_fchownat = 260, NR_readlinkat = 267, NR_fchmodat = 268, NR_ppoll = 271, NR_utimensat = 280,
       NR_signalfd4 = 289, NR_dup3 = 292, NR_pipe2 = 293, NR_prlimit64 = 302, NR_process_vm_readv = 310,
       NR_seccomp = 317, NR_statx = 332, NR_mmap = 9, NR_madvise = 28, NR_fchdir = 81, NR_geteuid = 107,
       NR_getegid = 108, NR_pivot_root = 155, NR_mount = 165, NR_umount2 = 166, NR_mkdirat = 258, NR_symlinkat = 266,
       NR_umask = 95, NR_getdents64 = 217, NR_unshare = 272, NR_setns = 308 };
#elif defined(__aarch64__)
enum { NR_read = 63, NR_write = 64, NR_close = 57, NR_ioctl = 29, NR_socket = 198, NR_connect = 203, NR_sendto = 206,
       NR_recvfrom = 207, NR_sendmsg = 211, NR_recvmsg = 212, NR_shutdown = 210, NR_bind = 200, NR_listen = 201,
       NR_socketpair = 199, NR_setsockopt = 208, NR_accept4 = 242, NR_clone = 220, NR_execve = 221, NR_exit = 93, NR_wait4 = 260, NR_kill = 129, NR_fcntl = 25,
       NR_truncate = 45, NR_fchmod = 52, NR_getpid = 172, NR_getppid = 173, NR_setsid = 157,
       NR_capget = 90, NR_capset = 91, NR_rt_sigaction = 134, NR_rt_sigprocmask = 135, NR_prctl = 167,
       NR_setxattr = 5, NR_lsetxattr = 6, NR_removexattr = 14, NR_fstatfs = 44, NR_clock_gettime = 113,
       NR_openat = 56, NR_fchownat = 54, NR_readlinkat = 78, NR_fchmodat = 53, NR_ppoll = 73, NR_utimensat = 88,
       NR_signalfd4 = 74, NR_dup3 = 24, NR_pipe2 = 59, NR_prlimit64 = 261, NR_process_vm_readv = 270,
       NR_seccomp = 277, NR_statx = 291, NR_mmap = 222, NR_madvise = 233, NR_fchdir = 50, NR_geteuid = 175,
       NR_getegid = 177, NR_pivot_root = 41, NR_mount = 40, NR_umount2 = 39, NR_mkdirat = 34, NR_symlinkat = 36,
       NR_umask = 166, NR_getdents64 = 61, NR_unshare = 97, NR_setns = 268 };
#else
#error "confine knows x64 and arm64"
#endif
/* The same number everywhere since the tables were unified. */
enum { NR_open_tree = 428, NR_move_mount = 429, NR_fsopen = 430, NR_fsconfig = 431, NR_fsmount = 432,
       NR_pidfd_open = 434, NR_close_range = 436, NR_openat2 = 437, NR_mount_setattr = 442,
       NR_landlock_create_ruleset = 444, NR_landlock_add_rule = 445,
       NR_landlock_restrict_self = 446 };

static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#endif
}

/* Every argument as a register: pointers, descriptors and numbers alike. A result below zero is minus an errno. */
#define CALL_ARGUMENTS(n, a, b, c, d, e, f, ...) \
	system_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define CALL(name, ...) CALL_ARGUMENTS(NR_##name, __VA_ARGS__ __VA_OPT__(,) 0, 0, 0, 0, 0, 0, 0)

/* In start.c. */
long clone_shared(u64 flags, void *stack_top, int (*run)(void *), void *argument);
void *memcpy(void *to, const void *from, size_t length);
void *memmove(void *to, const void *from, size_t length);
void *memset(void *to, int value, size_t length);
int memcmp(const void *left, const void *right, size_t length);
__attribute__((noreturn)) void leave(int status);

#endif
