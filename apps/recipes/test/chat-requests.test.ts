import { consumeStream, isToolUIPart } from 'ai'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { orders } from '../src/chat/place-order.ts'
import { openShop, post, said, type Shop, shownCall, yesOf } from './fixtures/shop.ts'

beforeEach(() => orders.clear())

describe('a server that stops between the yes and the answer', () => {
  /** A chat whose yes is stored and not yet carried out. */
  async function stoppedShop(): Promise<Shop> {
    const shop = await openShop()
    await post(shop.url, said('m1', 'Order lamp.'))
    const yes = await yesOf(shop)
    const { messages, version } = await shop.store.load('chat-1')
    await shop.store.save('chat-1', [...messages.slice(0, -1), yes], version)
    return shop
  }

  test('finishes that turn in its own run before it answers the next message', async () => {
    const { url, log, page } = await stoppedShop()
    expect(await post(url, said('m2', 'Hello?'))).toBe(200)
    const { messages } = await page()
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(messages[1]?.parts).toContainEqual(
      expect.objectContaining({ state: 'output-available', output: 'ordered lamp' }),
    )
    expect(messages[3]?.parts).toContainEqual(
      expect.objectContaining({ text: expect.stringContaining('ordered lamp') }),
    )
    expect([...orders.values()]).toEqual(['lamp'])
    expect(await log.list({ runId: 'chat:chat-1:m1' })).toMatchObject([{ status: 'success' }])
    expect(await log.list({ runId: 'chat:chat-1:m2' })).toEqual([])
  })

  test('neither repeats nor denies what the stopped turn had done', async () => {
    const shop = await openShop()
    await post(shop.url, said('m1', 'Order lamp.'))
    const yes = await yesOf(shop)
    await post(shop.url, yes)
    const { messages, version } = await shop.store.load('chat-1')
    await shop.store.save('chat-1', [...messages.slice(0, -1), yes], version)
    const ordered = vi.spyOn(orders, 'set')
    onTestFinished(() => ordered.mockRestore())
    expect(await post(shop.url, said('m2', 'Hello?'))).toBe(200)
    expect(ordered).not.toHaveBeenCalled()
    expect(shownCall(await shop.page())).toMatchObject({
      state: 'output-available',
      output: 'ordered lamp',
    })
  })

  test('calls an outcome unknown when the chat has gone on without it', async () => {
    const { url, store, page } = await stoppedShop()
    const { messages, version } = await store.load('chat-1')
    await store.save('chat-1', [...messages, said('m2', 'Hello?')], version)
    expect(await post(url, said('m3', 'Hello??'))).toBe(200)
    const shown = await page()
    expect(shownCall(shown)).toMatchObject({
      state: 'output-error',
      errorText: 'It is unknown whether this was done.',
    })
    expect(shown.messages.at(-1)?.parts).toContainEqual(
      expect.objectContaining({ text: expect.stringContaining('unknown whether') }),
    )
  })
})

describe('requests at once', () => {
  test('lose no message, and order once', async () => {
    const shop = await openShop()
    await post(shop.url, said('m1', 'Order lamp.'))
    const yes = await yesOf(shop)
    expect(
      await Promise.all([
        post(shop.url, yes),
        post(shop.url, said('m2', 'Hi.')),
        post(shop.url, said('m3', 'Hi again.')),
      ]),
    ).toSatisfy((statuses: number[]) => statuses.filter((status) => status === 200).length >= 2)
    const { messages } = await shop.page()
    expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(['m1', 'm2', 'm3']))
    // The order counts if the chat shows it, and only then.
    const states = messages.flatMap(({ parts }) => parts.filter(isToolUIPart).map((p) => p.state))
    expect(states).toEqual([orders.size === 1 ? 'output-available' : 'output-denied'])
  })

  test('are one at a time: the second begins when the first has ended', async () => {
    const { chat, store } = await openShop()
    const first = await chat.reply({ id: 'chat-1', message: said('m1', 'Hi.') })
    const second = chat.reply({ id: 'chat-1', message: said('m2', 'Hi again.') })
    await consumeStream({ stream: await chat.reply({ id: 'other', message: said('m1', 'Hi.') }) })
    expect((await store.load('chat-1')).messages.map(({ id }) => id)).toEqual(['m1'])
    await consumeStream({ stream: first })
    await consumeStream({ stream: await second })
    expect((await store.load('chat-1')).messages).toMatchObject([
      { id: 'm1' },
      { role: 'assistant' },
      { id: 'm2' },
      { role: 'assistant' },
    ])
  })

  test('get 409 and run nothing when another process has saved meanwhile', async () => {
    const shop = await openShop()
    await post(shop.url, said('m1', 'Order lamp.'))
    const yes = await yesOf(shop)
    const { load, save } = shop.store
    vi.spyOn(shop.store, 'load').mockImplementationOnce(async (id) => {
      const stored = await load(id)
      await save(id, stored.messages, stored.version)
      return stored
    })
    expect(await post(shop.url, yes)).toBe(409)
    expect(orders.size).toBe(0)
    expect(await post(shop.url, yes)).toBe(200)
    expect([...orders.values()]).toEqual(['lamp'])
  })
})

describe.each(['Express', 'Next'] as const)('a message sent again to %s', (kind) => {
  test('is refused with another text', async () => {
    const { url, chat } = await openShop(kind)
    await post(url, said('m1', 'Order lamp.'))
    const before = await chat.history('chat-1')
    expect(await post(url, said('m1', 'Order sofa.'))).toBe(400)
    expect(await chat.history('chat-1')).toEqual(before)
    expect(await post(url, said('m1', 'Order lamp.'))).toBe(200)
  })

  test('deletes no newer message', async () => {
    const { url, chat } = await openShop(kind)
    for (const id of ['m1', 'm2']) await post(url, said(id, 'Hi.'))
    const before = await chat.history('chat-1')
    expect(before).toHaveLength(4)
    expect(await post(url, said('m1', 'Hi.'))).toBe(409)
    expect(await chat.history('chat-1')).toEqual(before)
  })
})
