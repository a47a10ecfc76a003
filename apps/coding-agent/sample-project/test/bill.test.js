import assert from 'node:assert/strict'
import { test } from 'node:test'
import { totalCents } from '../src/bill.js'

test('the total holds every item and the tip', () => {
  const items = [
    { cents: 1250, count: 2 },
    { cents: 420, count: 1 },
  ]
  assert.equal(totalCents(items, 10), 3212)
})
