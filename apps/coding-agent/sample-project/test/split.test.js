import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receipts } from '../src/receipt.js'
import { splitEvenly } from '../src/split.js'

test('splitEvenly: the shares add up to the bill', () => {
  const shares = splitEvenly(10_000, 3)
  assert.equal(
    shares.reduce((sum, share) => sum + share, 0),
    10_000,
  )
})

test('splitEvenly: no two shares differ by more than a cent', () => {
  const shares = splitEvenly(10_001, 7)
  assert.ok(Math.max(...shares) - Math.min(...shares) <= 1)
})

test('receipts: every friend gets one', () => {
  const items = [{ cents: 3000, count: 2 }]
  assert.deepEqual(receipts({ items, tipPercent: 10, friends: ['Ada', 'Alan'] }), [
    'Ada pays 33.00',
    'Alan pays 33.00',
  ])
})
