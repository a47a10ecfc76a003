import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { bareBubblewrap } from '../../../sandbox/bench/bare-bubblewrap.ts'
import type { Job } from './rounds.ts'
import { nextCall, type RunTools } from './run-tools.ts'

const parallel = 64

/** Why `bwrap` cannot start a command here; undefined where it can. */
export function whyNoBubblewrap(): string | undefined {
  const { error, status, stderr } = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true'], {
    encoding: 'utf8',
  })
  if (error !== undefined) return `bwrap does not start: ${error.message}.`
  return status === 0 ? undefined : `bwrap cannot start a command: ${stderr.trim()}`
}

/** `bash` of `true`, alone and 64 at once, beside a plain spawn and bubblewrap as one would write it by hand. */
export function bashJobs(
  root: string,
  tools: RunTools,
  hasBubblewrap: boolean,
): { one: Job; atOnce: Job } {
  const { usable } = bareBubblewrap(root)
  const ours = (): Promise<unknown> =>
    tools.usual.bash.execute({ cmd: 'true', args: [] }, nextCall())
  const bubblewrap = (): Promise<void> => run('bwrap', usable, root)
  const plain = (): Promise<void> => run('true', [], root)
  const many = (work: () => Promise<unknown>) => () =>
    Promise.all(Array.from({ length: parallel }, work))
  return {
    one: {
      name: 'bash of true, isolated',
      ours,
      beside: [
        ...(hasBubblewrap ? [{ name: 'bare bwrap', work: bubblewrap, atMost: 1 }] : []),
        { name: 'plain spawn', work: plain, atMost: 1 },
      ],
    },
    atOnce: {
      name: `bash of true, ${parallel} at once`,
      ours: many(ours),
      beside: [
        ...(hasBubblewrap ? [{ name: 'bare bwrap', work: many(bubblewrap), atMost: 1 }] : []),
        { name: 'plain spawn', work: many(plain), atMost: 1 },
      ],
    },
  }
}

/** A search with 50 hits in 8 000 files of 100 MB together, in a directory of its own. */
export function grepJob(root: string, tools: RunTools): Job {
  const line = 'the quick brown fox jumps over the lazy dog and runs on\n'
  const body = line.repeat(Math.ceil(12_500 / line.length))
  for (let file = 0; file < 8000; file += 1) {
    const folder = join(root, `folder-${file % 80}`)
    if (file < 80) mkdirSync(folder, { recursive: true })
    const hit = file % 160 === 0 ? 'a needle in the hay\n' : ''
    writeFileSync(join(folder, `file-${file}.txt`), hit + body)
  }
  const pattern = 'a needle'
  const flags = ['--no-config', '-n', '-H', '--no-heading', '--color=never', '--', pattern, './']
  return {
    name: 'grep of 50 hits, isolated',
    ours: () => tools.usual.grep.execute({ pattern }, nextCall()),
    beside: [{ name: 'rg', work: () => run(rgPath, flags, root), atMost: 1.05 }],
  }
}

function run(file: string, args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', () => {})
    child.stderr.on('data', () => {})
    child.on('error', reject)
    child.on('close', () => resolve())
  })
}
