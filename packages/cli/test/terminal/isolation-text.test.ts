import type { IsolationReport } from '@smithers/sandbox'
import pc from 'picocolors'
import { describe, expect, test } from 'vitest'
import {
  isolationSentence,
  isolationTable,
  missingIsolation,
} from '../../src/terminal/isolation-text.ts'

const report: IsolationReport = {
  backend: 'none',
  enforced: { files: 'none', network: 'policy-only', kill: 'best-effort', syscalls: 'none' },
  notEnforced: [
    { what: 'files', why: 'Nothing confines them.', fix: 'Install it.' },
    { what: 'network', why: 'Only a check.', fix: 'Install it.' },
  ],
  limitations: [],
}

describe('isolationSentence', () => {
  test('names the backend and how far each property holds', () => {
    expect(isolationSentence(report)).toBe(
      'none (files none, network policy-only, kill best-effort, syscalls none)',
    )
  })
})

describe('isolationTable', () => {
  test('marks what is not enforced', () => {
    const colors = pc.createColors(true)
    const table = isolationTable(report, colors)
    expect(table).toContain(colors.yellow('policy-only'))
    expect(table).toContain(colors.green('best-effort'))
  })
})

describe('missingIsolation', () => {
  test('gives every reason, and each advice once', () => {
    expect(missingIsolation(report)).toEqual([
      'files: Nothing confines them.',
      'network: Only a check.',
      'for more: Install it.',
    ])
  })

  test('says what works less, and what would change that where all is enforced', () => {
    const limitations = [
      { code: 'NO_TERMINALS', why: 'No terminals.', fix: 'Use another.' },
      { code: 'NO_LOOPBACK', why: 'No loopback.', fix: 'Use another.' },
    ] as const
    expect(missingIsolation({ ...report, notEnforced: [], limitations })).toEqual([
      'works less: No terminals.',
      'works less: No loopback.',
      'for more: Use another.',
    ])
    expect(missingIsolation({ ...report, limitations })).toContain('for more: Install it.')
    expect(missingIsolation({ ...report, limitations })).not.toContain('for more: Use another.')
  })
})
