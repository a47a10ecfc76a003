import { totalCents } from './bill.js'
import { splitEvenly } from './split.js'

/** One line per person, as it is printed. */
export function receipts({ items, tipPercent, friends }) {
  const shares = splitEvenly(totalCents(items, tipPercent), friends.length)
  return friends.map((friend, index) => `${friend} pays ${format(shares[index])}`)
}

function format(cents) {
  return (cents / 100).toFixed(2)
}
