import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { openTelemetry } from '@smithers/otel'
import { createToolRun } from '@smithers/tool-core'
import { expect, test } from 'vitest'
import { recordTelemetry } from './fixtures/recorder.ts'
import { call, chargeTool } from './fixtures/shop-tools.ts'

interface ExportedSpan {
  readonly name: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

test('the OTLP exporter sends the span of a call to a collector', async () => {
  const received: string[] = []
  const collector = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      received.push(`${request.method} ${request.url} ${body}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const { port } = collector.address() as AddressInfo
  const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${port}/v1/traces` })
  using recorder = recordTelemetry(exporter)
  const run = createToolRun({ runId: 'exported', telemetry: openTelemetry() })
  await run.tools({ charge: chargeTool() }).charge.execute({ amount: 4 }, call('model-7'))
  await recorder.flush()
  await exporter.shutdown()
  await new Promise((resolve) => collector.close(resolve))

  const [sent = ''] = received
  expect(sent).toMatch(/^POST \/v1\/traces \{/)
  const { resourceSpans } = JSON.parse(sent.slice(sent.indexOf('{'))) as {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[]
    }[]
  }
  const [span] = resourceSpans[0]?.scopeSpans[0]?.spans ?? []
  expect(span?.name).toBe('execute_tool charge')
  expect(span?.attributes).toContainEqual({
    key: 'gen_ai.tool.call.id',
    value: { stringValue: 'model-7' },
  })
  expect(span?.attributes).toContainEqual({
    key: 'smithers.call.outcome',
    value: { stringValue: 'success' },
  })
})
