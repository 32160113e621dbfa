import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from './logger';
import { VERSION } from '../package-info';
import { setTracing, type StartSpan } from './tracing';

/** A process ends within 15 s, also if the receiver of the traces does not respond. */
const EXPORT_TIMEOUT_MS = 3_000;
const MAX_ERROR_CHARACTERS = 300;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

interface TraceSettings {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT` */
  readonly endpoint: string;
  /** `service.name` of the spans; `OTEL_RESOURCE_ATTRIBUTES` may have another one. */
  readonly service: string;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Exports the spans of this process by OTLP over HTTP. Only a process that exports traces imports this file. `close`
 * sends the spans that are left.
 */
export function startTracing({ endpoint, service, log }: TraceSettings): { close(): Promise<void> } {
  const error = (message: string) =>
    log.warn({ detail: message.slice(0, MAX_ERROR_CHARACTERS) }, 'trace export failed');
  const ignore = () => undefined;
  diag.setLogger({ error, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR);
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service, 'service.version': VERSION }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  });
  setTracing(spansOf(provider));
  return {
    async close() {
      setTracing(undefined);
      await provider.shutdown();
      diag.disable();
    },
  };
}

/** A caller that does not sample its trace decides that for Lunas too. */
function spansOf(provider: TracerProvider): StartSpan {
  const tracer = provider.getTracer('lunas', VERSION);
  return ({ name, kind, attributes = {} }, parent) => {
    const span = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes } }, contextOf(parent));
    return {
      traceparent: toTraceparent(span.spanContext()),
      end({ attributes: added = {}, isError = false }) {
        span.setAttributes({ ...added });
        if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  };
}

function contextOf(parent: string | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = parent.split('-');
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}

function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
