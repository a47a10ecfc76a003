import { afterEach, describe, expect, it, vi } from 'vitest'
import { fixedTokenVerifier, randomToken } from '../../src/http/bearer-token.ts'

const compared = vi.hoisted(() => ({ lengths: [] as [number, number][] }))
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  const timingSafeEqual = (a: Uint8Array, b: Uint8Array): boolean => {
    compared.lengths.push([a.length, b.length])
    return crypto.timingSafeEqual(a, b)
  }
  return { ...crypto, timingSafeEqual }
})

describe('the comparison of tokens', () => {
  afterEach(() => {
    compared.lengths.length = 0
  })

  it('compares digests of one length in constant time, whatever was given', async () => {
    const token = randomToken()
    const { verifyAccessToken } = fixedTokenVerifier(token)
    await expect(verifyAccessToken('')).rejects.toThrow(/wrong/)
    await expect(verifyAccessToken(token.slice(1))).rejects.toThrow(/wrong/)
    await expect(verifyAccessToken(`${token}0`)).rejects.toThrow(/wrong/)
    expect(await verifyAccessToken(token)).toMatchObject({ clientId: 'token' })
    expect(compared.lengths).toEqual([
      [32, 32],
      [32, 32],
      [32, 32],
      [32, 32],
    ])
  })

  it('makes tokens of 32 random bytes', () => {
    expect(Buffer.from(randomToken(), 'base64url')).toHaveLength(32)
    expect(randomToken()).not.toBe(randomToken())
  })
})
