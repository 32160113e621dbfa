import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import type { Pool } from 'pg';
import { VERSION } from '../package-info';
import type { GaugeReader, Sample } from './metrics';

/** The histogram of Node.js records the interval between two timers, which is this without any lag. */
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;

export type Pools = Readonly<Record<string, Pool>>;

/** Reads the gauges of every process: version, memory, event loop and connection pools. */
export function processGauges(pools: Pools): { readonly read: GaugeReader; stop(): void } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  return {
    async read() {
      const samples = [...constants(), ...lagSamples(delay), ...Object.entries(pools).flatMap(poolSamples)];
      delay.reset();
      return samples;
    },
    stop: () => delay.disable(),
  };
}

function constants(): Sample[] {
  const startSeconds = performance.timeOrigin / 1000;
  return [
    { name: 'lunas_build_info', labels: { version: VERSION }, value: 1 },
    { name: 'process_start_time_seconds', labels: {}, value: startSeconds },
    { name: 'process_resident_memory_bytes', labels: {}, value: process.memoryUsage.rss() },
  ];
}

/** Without a timer since the last scrape there is no lag to report. */
function lagSamples(delay: IntervalHistogram): Sample[] {
  if (delay.count === 0) return [];
  const statistics = { mean: delay.mean, p99: delay.percentile(99), max: delay.max };
  return Object.entries(statistics).map(([statistic, nanoseconds]) => ({
    name: 'lunas_event_loop_lag_seconds',
    labels: { statistic },
    value: Math.max(nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000, 0),
  }));
}

function poolSamples([pool, { totalCount, idleCount, waitingCount, options }]: [string, Pool]): Sample[] {
  const connections = { in_use: totalCount - idleCount, idle: idleCount };
  return [
    ...Object.entries(connections).map(([state, value]) => ({
      name: 'lunas_database_pool_connections' as const,
      labels: { pool, state },
      value,
    })),
    { name: 'lunas_database_pool_max_connections', labels: { pool }, value: options.max },
    { name: 'lunas_database_pool_waiting', labels: { pool }, value: waitingCount },
  ];
}
