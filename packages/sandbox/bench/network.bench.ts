/**
 * What `network: { allow }` costs, beside a direct connection and sandbox-runtime, all in turns: 100 MB in both directions,
 * a byte there and back, requests on connections that are kept alive, and the start of a command. `pnpm bench network
 * [ROUNDS]`. sandbox-runtime needs socat.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { benchArguments } from '../../../scripts/bench/effort.ts'
import { makeNetworkVariants, type NetworkVariant, type Ports } from './network/variants.ts'

const rounds = Number(benchArguments[0] ?? 7)
const startRounds = 20 * rounds
const bulkMegabytes = 100
const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'network-bench-')))
for (const name of ['client.ts', 'origin.ts'])
  copyFileSync(join(import.meta.dirname, 'network/programs', name), join(rootDir, name))
const origin = spawn(process.execPath, [join(rootDir, 'origin.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})

type Figures = Record<
  'start' | 'download' | 'upload' | 'roundTrip' | 'request' | 'requestOf16',
  number
>

let close: (() => Promise<void>) | undefined
try {
  const [line] = (await once(origin.stdout, 'data')) as [Buffer]
  const ports = JSON.parse(line.toString()) as Ports
  console.log(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${process.platform} ${release()}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`,
  )
  const made = await makeNetworkVariants(rootDir, ports, dirname(dirname(process.execPath)))
  close = made.close
  print(await measure(made.variants, ports))
} finally {
  await close?.()
  origin.kill()
  rmSync(rootDir, { recursive: true })
}

/** The median of each figure of each variant. */
async function measure(
  variants: readonly NetworkVariant[],
  { raw, http }: Ports,
): Promise<ReadonlyMap<string, Figures>> {
  const found = new Map(variants.map(({ name }) => [name, [] as Figures[]]))
  const starts = new Map(variants.map(({ name }) => [name, [] as number[]]))
  for (let round = 0; round < startRounds; round++) {
    for (const { name, run } of variants) {
      const startedAt = performance.now()
      await run(['/usr/bin/true'])
      starts.get(name)?.push(performance.now() - startedAt)
    }
  }
  const client = [process.execPath, join(rootDir, 'client.ts'), `${raw}`, `${http}`] as const
  for (let round = 0; round < rounds; round++) {
    for (const { name, run, hasNetwork } of variants)
      if (hasNetwork) found.get(name)?.push(JSON.parse(await run(client)) as Figures)
  }
  return new Map(
    variants.map(({ name }) => {
      const figures = found.get(name) ?? []
      const middle = (key: keyof Figures): number => median(figures.map((each) => each[key]))
      return [
        name,
        {
          start: median(starts.get(name) ?? []),
          download: middle('download'),
          upload: middle('upload'),
          roundTrip: middle('roundTrip'),
          request: middle('request'),
          requestOf16: middle('requestOf16'),
        },
      ] as const
    }),
  )
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function print(all: ReadonlyMap<string, Figures>): void {
  console.log(`\nstart of "true": median of ${startRounds}; the others: median of ${rounds}`)
  const direct = all.get('direct')
  console.table(
    [...all].map(([variant, each]) => {
      const shown = (key: keyof Figures, scale: (seconds: number) => string): string => {
        if (Number.isNaN(each[key])) return '–'
        const ratio = direct === undefined ? Number.NaN : each[key] / direct[key]
        return `${scale(each[key])} (× ${ratio.toFixed(2)})`
      }
      const speed = (seconds: number): string => `${(bulkMegabytes / seconds).toFixed(0)} MB/s`
      return {
        variant,
        'start, ms': each.start.toFixed(2),
        '100 MB down': shown('download', speed),
        '100 MB up': shown('upload', speed),
        'a byte and back': shown('roundTrip', (seconds) => `${(seconds * 1e6).toFixed(0)} µs`),
        requests: shown('request', (seconds) => `${(1 / seconds).toFixed(0)}/s`),
        '… on 16': shown('requestOf16', (seconds) => `${(1 / seconds).toFixed(0)}/s`),
      }
    }),
  )
}
