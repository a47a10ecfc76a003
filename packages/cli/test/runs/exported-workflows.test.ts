import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exportedWorkflows } from '../../src/runs/exported-workflows.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'

/** What a workflow looks like from outside. */
const workflow = '({ render() {}, outputs: new Map() })'

function written(files: Readonly<Record<string, string>>): string[] {
  const folder = temporaryFolder()
  return Object.entries(files).map(([name, text]) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  })
}

describe('the workflows that files export', () => {
  test('have the names of the exports, and a default export that of its file', async () => {
    const files = written({
      'pay.mjs': `export default ${workflow}; export const limit = 3`,
      'money.mjs': `export const refund = ${workflow}; export default refund; export const charge = ${workflow}`,
    })
    expect(Object.keys(await exportedWorkflows(files)).toSorted()).toEqual([
      'charge',
      'pay',
      'refund',
    ])
  })

  test('are refused when two have one name', async () => {
    const files = written({
      'a.mjs': `export const pay = ${workflow}`,
      'b.mjs': `export const pay = ${workflow}`,
    })
    await expect(exportedWorkflows(files)).rejects.toThrow(/both export a workflow "pay"/)
    // One file twice is no contradiction.
    const [first = ''] = files
    expect(Object.keys(await exportedWorkflows([first, first]))).toEqual(['pay'])
  })

  test('are refused with the reason of a file that throws', async () => {
    const files = written({ 'a.mjs': 'throw new Error("no stock")' })
    await expect(exportedWorkflows(files)).rejects.toThrow(/a\.mjs cannot be loaded: no stock/)
  })
})
