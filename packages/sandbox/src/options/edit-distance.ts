/** How many characters to add, remove or exchange to get from one text to the other. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const changed = row[column - 1]! + (from[index] === to[column - 1] ? 0 : 1)
      next.push(Math.min(changed, row[column]! + 1, next[column - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
