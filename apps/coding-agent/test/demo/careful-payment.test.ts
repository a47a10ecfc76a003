import { describe, expect, test } from 'vitest'
import { payCarefully } from '../../src/demo/careful-payment.ts'

const prompt = 'Pay 3334 cents for the order dinner-42.'
const warned = `[smithers:tool-resume-warning]\n- charge {}: unknown\n\n${prompt}`
const booked = { id: 'payment-1', order: 'dinner-42', cents: 3334 }
const input = { order: 'dinner-42', cents: 3334 }

describe('payCarefully', () => {
  test('pays what the order says', () => {
    const script = payCarefully(prompt)
    expect(script.next().value).toMatchObject({ toolName: 'charge', input })
    const answer = script.next({ failed: false, text: JSON.stringify(booked) })
    expect(answer).toEqual({ done: true, value: booked })
  })

  test('looks first when it is warned, and does not pay what is paid', () => {
    const script = payCarefully(warned)
    expect(script.next().value).toMatchObject({ toolName: 'find_payments' })
    const answer = script.next({ failed: false, text: JSON.stringify([booked]) })
    expect(answer).toEqual({ done: true, value: booked })
  })

  test('pays when it looked and found nothing', () => {
    const script = payCarefully(warned)
    script.next()
    expect(script.next({ failed: false, text: '[]' }).value).toMatchObject({
      toolName: 'charge',
      input,
    })
  })

  test('does not pay when it cannot find out', () => {
    const script = payCarefully(warned)
    script.next()
    expect(() => script.next({ failed: true, text: 'no answer' })).toThrow('no answer')
  })
})
