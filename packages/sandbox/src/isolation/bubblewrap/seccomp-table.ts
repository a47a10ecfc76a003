/** The processor architectures that the filter knows, as `process.arch` spells them. */
export type FilterArchitecture = 'x64' | 'arm64'

/** `AUDIT_ARCH_*` of linux/audit.h: what the kernel reports with each call. */
export const auditArchitecture: Readonly<Record<FilterArchitecture, number>> = {
  x64: 0xc000_003e,
  arm64: 0xc000_00b7,
}

/** A system call's number per architecture; `null` where the architecture never had it. */
export type SystemCallNumbers = readonly [x64: number, arm64: number | null]

/** Calls that the filter decides by their arguments. */
export const inspectedSystemCalls: Readonly<
  Record<
    'clone' | 'clone3' | 'openat2' | 'unshare' | 'socket' | 'socketpair' | 'ioctl',
    readonly [x64: number, arm64: number]
  >
> = {
  clone: [56, 220],
  clone3: [435, 435],
  openat2: [437, 437],
  unshare: [272, 97],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
}

/** A call that gives a file its mode, and which of its arguments say so. */
export interface ModeCall {
  readonly numbers: SystemCallNumbers
  readonly mode: number
  /** The argument of `open` flags: the mode counts only when they create. `null`: it always counts. */
  readonly flags: number | null
}

/**
 * Calls that can put the set-user-ID bit on a file. Not `mkdir`: the kernel drops the bit there. `openat2` reads its mode
 * from memory and is decided as a whole.
 */
export const modeCalls: Readonly<Record<string, ModeCall>> = {
  chmod: { numbers: [90, null], mode: 1, flags: null },
  fchmod: { numbers: [91, 52], mode: 1, flags: null },
  fchmodat: { numbers: [268, 53], mode: 2, flags: null },
  fchmodat2: { numbers: [452, 452], mode: 2, flags: null },
  creat: { numbers: [85, null], mode: 1, flags: null },
  mknod: { numbers: [133, null], mode: 1, flags: null },
  mknodat: { numbers: [259, 33], mode: 2, flags: null },
  open: { numbers: [2, null], mode: 2, flags: 1 },
  openat: { numbers: [257, 56], mode: 3, flags: 2 },
}

/** Calls that the filter always refuses with EPERM, by the reason. */
export const refusedSystemCalls: Readonly<
  Record<string, Readonly<Record<string, SystemCallNumbers>>>
> = {
  /** Reading or steering another process: a helper of the sandbox, or a sibling with other rights. */
  'other processes': {
    ptrace: [101, 117],
    process_vm_readv: [310, 270],
    process_vm_writev: [311, 271],
    kcmp: [312, 272],
    pidfd_getfd: [438, 438],
  },
  /** Keyrings are shared per user across every namespace but the user's: keys of the session would be readable. */
  keyrings: { add_key: [248, 217], request_key: [249, 218], keyctl: [250, 219] },
  /** Large kernel surfaces that ordinary tools do without, and the source of most local privilege escalations. */
  'kernel surface': {
    bpf: [321, 280],
    perf_event_open: [298, 241],
    userfaultfd: [323, 282],
    // io_uring opens sockets and files past every rule about system calls.
    io_uring_setup: [425, 425],
    io_uring_enter: [426, 426],
    io_uring_register: [427, 427],
  },
  /** The view of the file system is the sandbox; no process inside may rearrange it. */
  mounts: {
    mount: [165, 40],
    umount2: [166, 39],
    pivot_root: [155, 41],
    chroot: [161, 51],
    open_tree: [428, 428],
    open_tree_attr: [467, 467],
    move_mount: [429, 429],
    mount_setattr: [442, 442],
    fsopen: [430, 430],
    fsconfig: [431, 431],
    fsmount: [432, 432],
    fspick: [433, 433],
    // Opens a file by its number in the file system: past every mount.
    open_by_handle_at: [304, 265],
  },
  namespaces: { setns: [308, 268] },
  /** The whole machine. All need a capability that is gone; refused again so that one mistake is not enough. */
  machine: {
    acct: [163, 89],
    clock_settime: [227, 112],
    create_module: [174, null],
    delete_module: [176, 106],
    finit_module: [313, 273],
    init_module: [175, 105],
    ioperm: [173, null],
    iopl: [172, null],
    kexec_file_load: [320, 294],
    kexec_load: [246, 104],
    quotactl: [179, 60],
    quotactl_fd: [443, 443],
    reboot: [169, 142],
    setdomainname: [171, 162],
    sethostname: [170, 161],
    settimeofday: [164, 170],
    swapoff: [168, 225],
    swapon: [167, 224],
    syslog: [103, 116],
  },
}
