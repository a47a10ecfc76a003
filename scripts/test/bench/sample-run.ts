import { atLeast, atMost, benchRow, type BenchTable, single } from '../../bench/result.ts'
import type { StoredRun } from '../../bench/stored-run.ts'

/** Two jobs beside one yardstick, of which the second misses its goal. */
export const ratios: BenchTable = {
  name: 'sample-ratios',
  title: 'Reads & writes <fast>',
  about: 'What a read costs.',
  command: 'pnpm bench sample --short',
  rounds: 'Medians of 40 rounds',
  unit: 'µs',
  chart: 'ratio',
  rows: [
    benchRow(
      { median: 30, p95: 41 },
      { job: 'read', beside: { name: 'readFile', median: 60, p95: 90 }, goal: atMost(0.6) },
    ),
    benchRow(
      { median: 1500, p95: null },
      { job: 'write', beside: { name: 'readFile', median: 1000, p95: null }, goal: atMost(1.2) },
    ),
  ],
}

/** Amounts of ours and of a peer. */
export const amounts: BenchTable = {
  name: 'sample-amounts',
  title: 'Pairs',
  about: 'Pairs in a second.',
  command: 'pnpm bench sample --short',
  rounds: 'Medians of 3 rounds',
  unit: 'pairs/s',
  chart: 'median',
  rows: [
    benchRow(single(2400), { job: 'pairs', goal: atLeast(2000) }),
    benchRow(single(12), { job: 'pairs', subject: 'peer', isOurs: false, note: 'one | two' }),
  ],
}

export const sampleRun: StoredRun = {
  id: 'sample-sample',
  command: 'pnpm bench sample --short',
  startedAt: '2026-01-02 03:04',
  seconds: 12,
  load: 0.2,
  machine: { processor: 'CPU', cores: 2, memoryGb: 8, system: 'Linux 6', node: '24.0.0' },
  commit: 'abcdef0123',
  versions: { diff: '9.0.0' },
  tables: [ratios, amounts],
  notRun: [{ what: 'isolation by bubblewrap', why: 'bwrap is not installed.' }],
}
