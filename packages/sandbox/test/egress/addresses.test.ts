import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { findRefusedAddress, isOwnAddress, isPublicAddress } from '../../src/egress/addresses.ts'
import { readRules } from '../../src/egress/rules.ts'

test.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1::1', '::ffff:8.8.8.8'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true)
  },
)

test.each([
  '127.0.0.1',
  '127.255.0.9',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '192.0.0.1',
  '192.0.2.7',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  'fe80::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '100::1',
  '4000::1',
  'fe80::1%1',
  'localhost',
  '',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test('knows the addresses of this machine', () => {
  const own = Object.values(networkInterfaces()).flatMap((each = []) =>
    each.map(({ address }) => address),
  )
  expect(own.filter((address) => !isOwnAddress(address))).toEqual([])
  expect(isOwnAddress('93.184.216.34')).toBe(false)
})

test('one address that is not public refuses them all', () => {
  const rules = readRules(['example.com'], [])
  expect(findRefusedAddress(['93.184.216.34', '8.8.8.8'], 443, rules)).toBeNull()
  expect(findRefusedAddress(['93.184.216.34', '127.0.0.1'], 443, rules)).toBe('127.0.0.1')
})

test('only a rule that spells an address out opens it, for its port', () => {
  const rules = readRules(['example.com', '10.0.0.5:5432'], [])
  expect(findRefusedAddress(['10.0.0.5'], 5432, rules)).toBeNull()
  expect(findRefusedAddress(['10.0.0.5'], 443, rules)).toBe('10.0.0.5')
  expect(findRefusedAddress(['::ffff:10.0.0.5'], 5432, rules)).toBeNull()
})

test('an address that is denied stays closed to names that lead to it', () => {
  const rules = readRules(['example.com'], ['93.184.216.34'])
  expect(findRefusedAddress(['93.184.216.34'], 443, rules)).toBe('93.184.216.34')
})
