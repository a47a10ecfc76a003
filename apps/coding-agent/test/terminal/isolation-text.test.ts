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
      'Install it.',
    ])
  })
})
