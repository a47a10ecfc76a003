import { InvalidArgumentError } from 'commander'

/** Parses an option's value as a whole number from 1. */
export function positiveInteger(value: string): number {
  const number = Number(value)
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError('It must be a whole number from 1.')
  }
  return number
}
