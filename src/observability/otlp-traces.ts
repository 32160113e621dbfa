import { diag, DiagLogLevel, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { VERSION } from '../package-info';
import type { Logger } from './logger';

/** A process ends within 15 s, also if the receiver of the traces does not respond. */
const EXPORT_TIMEOUT_MS = 3_000;
const MAX_ERROR_CHARACTERS = 300;

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
  trace.setGlobalTracerProvider(provider);
  return {
    async close() {
      trace.disable();
      await provider.shutdown();
      diag.disable();
    },
  };
}
