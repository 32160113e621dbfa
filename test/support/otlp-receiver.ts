import { once } from 'node:events';
import { createServer } from 'node:http';
import { z } from 'zod';

const attributeSchema = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });

const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  status: z.object({ code: z.number() }),
  attributes: z.array(attributeSchema),
});

export type ReceivedSpan = z.infer<typeof spanSchema>;

const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attributeSchema) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

/** An OpenTelemetry collector: OTLP over HTTP, in JSON. */
export interface OtlpReceiver {
  readonly url: string;
  /** Method and path of each request. */
  readonly requests: string[];
  readonly spans: ReceivedSpan[];
  /** What was received. */
  text(): string;
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const requests: string[] = [];
  const bodies: string[] = [];
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      requests.push(`${request.method} ${request.url}`);
      bodies.push(body);
      const { resourceSpans } = exportSchema.parse(JSON.parse(body));
      for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    spans,
    text: () => bodies.join('\n'),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
