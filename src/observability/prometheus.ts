import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS, type MetricDefinition, type MetricName } from './definitions';
import { setRecorder, type GaugeReader, type SampleName } from './metrics';

/* The page of this process in Prometheus' text format. Commands count nothing and do not load this. */

const registry = new Registry();
const counters = new Map<MetricName, Counter>();
const histograms = new Map<MetricName, Histogram>();

/** Starts to count what a process of this kind counts. Counters begin with 0, so that a first increase is visible. */
export function enableMetrics(process: 'api' | 'worker'): void {
  for (const name of metricNames()) {
    const definition: MetricDefinition = METRICS[name];
    if (definition.process !== 'every' && definition.process !== process) continue;
    if (definition.type === 'counter') enableCounter(name, definition);
    if (definition.type === 'histogram') enableHistogram(name, definition);
  }
  setRecorder({
    increment: (name, labels, by) => counters.get(name)?.inc(labels, by),
    observe: (name, labels, seconds) => histograms.get(name)?.observe(labels, seconds),
  });
}

function enableCounter(name: MetricName, definition: MetricDefinition): void {
  if (counters.has(name)) return;
  const counter = new Counter({ ...optionsOf(name, definition), registers: [registry] });
  for (const [label, values] of Object.entries(definition.labels)) {
    for (const value of values ?? []) counter.inc({ [label]: value }, 0);
  }
  counters.set(name, counter);
}

function enableHistogram(name: MetricName, definition: MetricDefinition): void {
  if (histograms.has(name)) return;
  const buckets = [...(definition.buckets ?? [])];
  histograms.set(name, new Histogram({ ...optionsOf(name, definition), buckets, registers: [registry] }));
}

function optionsOf(name: MetricName, { help, labels }: MetricDefinition) {
  return { name, help, labelNames: Object.keys(labels) };
}

function metricNames(): MetricName[] {
  const isName = (text: string): text is MetricName => text in METRICS;
  return Object.keys(METRICS).filter(isName);
}

function createSampled(name: SampleName, page: Registry): Gauge | Counter {
  const options = { ...optionsOf(name, METRICS[name]), registers: [page] };
  return METRICS[name].type === 'gauge' ? new Gauge(options) : new Counter(options);
}

/** The page of a scrape: what was counted, and the gauges of these readers. */
export async function renderMetrics(readers: readonly GaugeReader[]): Promise<string> {
  const samples = await Promise.all(readers.map((read) => read()));
  // Concurrent scrapes share none of these.
  const page = new Registry();
  const instruments = new Map<SampleName, Gauge | Counter>();
  for (const { name, labels, value } of samples.flat()) {
    const instrument = instruments.get(name) ?? createSampled(name, page);
    instruments.set(name, instrument);
    instrument.inc(labels, value);
  }
  return (await registry.metrics()) + (await page.metrics());
}
