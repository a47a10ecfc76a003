import type { SystemCallNumbers } from '../bubblewrap/seccomp-table.ts'

/** Calls that change what Landlock has no right for, on any version: each succeeds on every file that the user owns. */
export const metadataCalls: Readonly<Record<string, SystemCallNumbers>> = {
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  chown: [92, null],
  lchown: [94, null],
  fchown: [93, 55],
  fchownat: [260, 54],
  utime: [132, null],
  utimes: [235, null],
  futimesat: [261, null],
  utimensat: [280, 88],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
}

/** Newer doors to the same. Programs fall back to the older ones, which are judged. */
export const newerMetadataCalls: Readonly<Record<string, SystemCallNumbers>> = {
  setxattrat: [463, 463],
  removexattrat: [466, 466],
  file_setattr: [469, 469],
}

export const connectCall: SystemCallNumbers = [42, 203]
export const truncateCall: SystemCallNumbers = [76, 45]
export const fcntlCall: SystemCallNumbers = [72, 25]
export const openCalls: readonly { readonly numbers: SystemCallNumbers; readonly flags: number }[] =
  [
    { numbers: [2, null], flags: 1 },
    { numbers: [257, 56], flags: 2 },
  ]

/** Calls with which a process changes another one's limits and priorities, by the argument that names the other. */
export const steeringCalls: Readonly<
  Record<string, { numbers: SystemCallNumbers; process: number }>
> = {
  prlimit64: { numbers: [302, 261], process: 0 },
  sched_setaffinity: { numbers: [203, 122], process: 0 },
  sched_setscheduler: { numbers: [144, 119], process: 0 },
  sched_setparam: { numbers: [142, 118], process: 0 },
  sched_setattr: { numbers: [314, 274], process: 0 },
}

/** The same for priorities: the first argument says whether the second is a process, a group or a user. */
export const priorityCalls: Readonly<Record<string, { numbers: SystemCallNumbers; user: number }>> =
  {
    setpriority: { numbers: [141, 140], user: 2 },
    ioprio_set: { numbers: [251, 30], user: 3 },
  }

/** Signals, by the process that they go to. Landlock has a scope for them from version 6 on. */
export const signalCalls: Readonly<Record<string, SystemCallNumbers>> = {
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  pidfd_open: [434, 434],
}

/** Takes a directory of /proc for a process, too: no number in a register to judge. */
export const pidfdSendSignal: SystemCallNumbers = [424, 424]

/** Objects that all processes of the user share, machine-wide: without an IPC namespace they are the host's. */
export const sharedObjectCalls: Readonly<Record<string, SystemCallNumbers>> = {
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmdt: [67, 197],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  semctl: [66, 191],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
}

/** Looking into, or steering, other processes of the user without a process namespace. */
export const strangersCalls: Readonly<Record<string, SystemCallNumbers>> = {
  fanotify_init: [300, 262],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
}
