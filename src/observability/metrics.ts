import type { LabelsOf, MetricNameOf } from './definitions';

export type CounterName = MetricNameOf<'counter'>;
export type HistogramName = MetricNameOf<'histogram'>;
/** Read at a scrape. */
export type SampleName = MetricNameOf<'gauge' | 'sampled_counter'>;

/** What counts for the page of a process. */
export interface Recorder {
  increment(name: CounterName, labels: Readonly<Record<string, string>>, by: number): void;
  observe(name: HistogramName, labels: Readonly<Record<string, string>>, seconds: number): void;
}

let recorder: Recorder | undefined;

/** Called by a process with `METRICS_PORT`. Without it nothing is counted. */
export function setRecorder(current: Recorder): void {
  recorder = current;
}

export function increment<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by = 1): void {
  recorder?.increment(name, labels, by);
}

export function observeDuration<Name extends HistogramName>(
  name: Name,
  labels: LabelsOf<Name>,
  durationMs: number,
): void {
  recorder?.observe(name, labels, durationMs / 1000);
}

/** A value at a scrape. */
export type Sample = {
  readonly [Name in SampleName]: { readonly name: Name; readonly labels: LabelsOf<Name>; readonly value: number };
}[SampleName];

/** Reads values for a scrape. What it cannot read is absent from the page. */
export type GaugeReader = () => Promise<readonly Sample[]>;
