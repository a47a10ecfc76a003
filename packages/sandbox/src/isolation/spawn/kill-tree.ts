import { findSurvivors, processesStartedSince, type ProcessTree } from './find-survivors.ts'

/** A sweep that still finds processes after this many rounds gives up; each round kills everything it sees. */
const maxRounds = 50
const roundMs = 4

/** Searches in a row that find nothing for certain before that is believed, and the pause between them. */
const maxDoubts = 5
const doubtMs = 1

/** The longest wait for processes to leave `exec`, which takes less than a millisecond of a processor's time. */
const longestExecMs = 2000

/** Too short for process ids to wrap: there are at least 32 768. */
const shortCommandMs = 1000

/**
 * Kills a command and everything it started: its process group at once, then, round after round, whatever still carries
 * its session, its parent chain or its marker, until a round finds nothing.
 *
 * *Guarantees*: no process of the group survives; a child that called `setsid` or forked twice is found by its parents,
 * its session or its environment.
 * *Does not protect against* a process that left the session, lost its parents and cleared its environment: only a
 * backend with a process namespace does.
 */
export async function killTree(
  tree: ProcessTree,
  { ageMs, exited }: { readonly ageMs: number; readonly exited: Promise<unknown> },
): Promise<void> {
  const onlyLater = ageMs < shortCommandMs
  // Before the group dies: afterwards its children have lost their parent chain.
  const { pids: descendants } = findSurvivors(tree, { parentChain: true, onlyLater })
  killGroup(tree.pid)
  for (const pid of descendants) kill(pid)
  // Those are dying. What is found when the command itself is gone has escaped until now.
  await exited
  await sweep(tree, onlyLater)
}

/**
 * After a command has exited by itself: ends what it left behind, and says whether that was anything. Costs one small
 * read when it started nothing.
 */
export async function killLeftovers(tree: ProcessTree, durationMs: number): Promise<boolean> {
  if (!processesStartedSince(tree.pid)) return false
  return sweep(tree, durationMs < shortCommandMs)
}

/** Whether it found anything. */
async function sweep(tree: ProcessTree, onlyLater: boolean): Promise<boolean> {
  const patientUntil = performance.now() + longestExecMs
  let doubts = 0
  let rounds = 0
  while (rounds < maxRounds) {
    const { pids, unsure, changing } = findSurvivors(tree, { parentChain: false, onlyLater })
    if (pids.length > 0) {
      rounds += 1
      doubts = 0
    } else if (changing && performance.now() < patientUntil) {
      // A busy machine may keep one from its processor for long, and only then does it show what it is.
    } else if (!unsure || doubts === maxDoubts) {
      break
    } else {
      doubts += 1
    }
    for (const pid of pids) kill(pid)
    await new Promise((resolve) => setTimeout(resolve, pids.length === 0 ? doubtMs : roundMs))
  }
  return rounds > 0
}

/** SIGKILL to a whole process group; on Windows, to the process. */
export function killGroup(pid: number): void {
  kill(process.platform === 'win32' ? pid : -pid)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already (ESRCH), or a set-uid program of another user (EPERM): nothing more can be done from here.
  }
}
