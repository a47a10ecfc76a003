/** What each person pays, in cents. */
export function splitEvenly(totalCents, people) {
  if (!Number.isInteger(people) || people < 1) {
    throw new RangeError(`Cannot split a bill among ${people} people.`)
  }
  // Cents cannot be divided.
  const share = Math.floor(totalCents / people)
  return Array.from({ length: people }, () => share)
}
