import assert from 'node:assert/strict'
import { currentOwnerId } from '@smithers/tool-core/log'

/** A process number that this machine does not have, on a machine that differs in nothing but its mark. */
export function ownerElsewhere(): string {
  const [host = '', mark = '', ...space] = (currentOwnerId().split(':')[0] ?? '').split('/')
  const another = mark.replace(/[0-9a-f]/, (digit) => (digit === '0' ? '1' : '0'))
  assert.notEqual(another, mark)
  return `${[host, another, ...space].join('/')}:1:1`
}
