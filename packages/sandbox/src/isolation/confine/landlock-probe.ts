import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolationBackend, NotEnforced, ProbeResult } from '../backend.ts'
import { runCanary } from '../canary.ts'
import { ensureHelper } from './helper.ts'
import { HelperProcess } from './helper-process.ts'
import { makeTemporaryDirectory } from '../process-directory.ts'

type Starter = Pick<IsolationBackend, 'prepare' | 'start'>

/** The kernel or another filter does not let a supervisor judge calls: to be tried again without. */
type CannotJudge = 'calls cannot be judged'

/** Tries Landlock live: the canary of all backends, and one that changes modes, which only a judge stops. */
export async function probeLandlock(
  starter: Starter,
  version: (helper: HelperProcess) => number,
  vets: () => boolean,
): Promise<ProbeResult | CannotJudge> {
  const helper = await ensureHelper()
  if (!(helper instanceof HelperProcess)) return refusal([{ what: 'files', ...helper }])
  if (version(helper) < 1) {
    const why = 'The kernel has no Landlock, or its "lsm=" setting leaves it out.'
    return refusal([{ what: 'files', why, fix: 'Use Linux 5.13 or newer with Landlock enabled.' }])
  }
  try {
    if (vets()) {
      const modes = await tryModes(starter)
      if (modes.outside !== untouched) return refusal([{ ...reportedFault, why: changedOutside }])
      if (modes.inside !== changed) return 'calls cannot be judged'
    }
    const { ran, faults, filtered, stderr } = await runCanary(starter)
    if (!ran) {
      const why = `The canary did not run: ${stderr.trim()}.`
      return refusal([{ what: 'files', why, fix: seeKernel }])
    }
    const all: NotEnforced[] = faults.map((fault) => ({ ...fault, fix: reportedFault.fix }))
    if (!filtered)
      all.push({ what: 'syscalls', why: 'The system-call filter was not loaded.', fix: seeKernel })
    if (all.length > 0) return refusal(all)
  } catch (error) {
    const why = `The canary that proves isolation could not be set up: ${(error as Error).message}.`
    return refusal([{ what: 'files', why, fix: 'Make the temporary directory (TMPDIR) writable.' }])
  }
  const kill = helper.hello.findsChildren ? 'enforced' : 'best-effort'
  return {
    usable: true,
    enforced: { files: 'enforced', network: 'enforced', kill, syscalls: 'enforced' },
    notEnforced: kill === 'enforced' ? [] : [noChildren],
  }
}

const seeKernel = 'Use a kernel with CONFIG_SECURITY_LANDLOCK and CONFIG_SECCOMP_FILTER.'
const changedOutside = 'A canary changed the mode of a file outside its root.'
const reportedFault = {
  what: 'files',
  fix: 'This is a fault of the kernel or of this package, not a setting: please report it as SECURITY.md says.',
} as const

const noChildren: NotEnforced = {
  what: 'kill',
  why: 'The processes of a command cannot be found here: one that left its group can outlive it.',
  fix: 'Mount the /proc of this process namespace.',
}

const untouched = 0o600
const changed = 0o640

/** Lets a command change the mode of a file in its root and of one beside it, and looks at both. */
async function tryModes({ prepare, start }: Starter): Promise<{ inside: number; outside: number }> {
  const base = makeTemporaryDirectory('canary')
  try {
    const rootDir = join(base, 'root')
    const [inside, outside] = [join(rootDir, 'file'), join(base, 'file')]
    mkdirSync(rootDir)
    for (const file of [inside, outside]) {
      writeFileSync(file, '')
      chmodSync(file, untouched)
    }
    for (let wait = prepare(); wait !== undefined; wait = prepare()) await wait
    const running = start({
      argv: [
        '/bin/sh',
        '-c',
        `chmod ${changed.toString(8)} ../file; chmod ${changed.toString(8)} file`,
      ],
      cwd: rootDir,
      cwdHandle: rootDir,
      rootDir,
      policy: { network: 'none', read: [], protect: [], deny: [], limits: { temporaryMb: 16 } },
      env: { PATH: '/usr/bin:/bin' },
      limits: { fileMb: null, cpuSeconds: null, processes: null },
      controlGroups: [],
      hasInput: false,
      mergeOutput: true,
    })
    for (const [, stream] of running.outputs) stream.resume()
    await running.ended
    for (const [, stream] of running.outputs) stream.destroy()
    return { inside: statSync(inside).mode & 0o777, outside: statSync(outside).mode & 0o777 }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function refusal(notEnforced: readonly NotEnforced[]): ProbeResult {
  return {
    usable: false,
    enforced: { files: 'none', network: 'policy-only', kill: 'best-effort', syscalls: 'none' },
    notEnforced,
  }
}
