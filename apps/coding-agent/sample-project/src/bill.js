/** The sum of the items and the tip, in cents. */
export function totalCents(items, tipPercent) {
  const sum = items.reduce((total, item) => total + item.cents * item.count, 0)
  return sum + Math.round((sum * tipPercent) / 100)
}
