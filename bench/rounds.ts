import type { Reading } from './meter';
import { measuredRatios, type MeasuredRatio, type Round } from './ratios';
import type { Rig } from './rig';
import { median, percentile, spreadOf, type Spread } from './statistics';
import { prepareSubjects, SUBJECTS, type Stretch, type SubjectName } from './subjects';

export interface SubjectFigures {
  readonly perSecond: Spread;
  /** Milliseconds of CPU for each operation, by process; the median over the rounds. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Median over the rounds; NaN where none were taken. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface RoundsResult {
  readonly rounds: number;
  readonly ratios: readonly MeasuredRatio[];
  readonly subjects: Readonly<Record<string, SubjectFigures>>;
  /** How many times a subject's rate the generator's own CPU would allow, for those that it asks over HTTP. */
  readonly headroom: Readonly<Record<string, number>>;
}

/** In which a rate is that of the generator's requests. */
const ASKED_OVER_HTTP = ['create', 'dbosCreate', 'bareGet', 'get', 'replay'] as const;
/** Below this a process had nothing to do with it. */
const LEAST_CPU_MS = 0.005;

/** Every subject once a round, forwards and backwards in turn: A B … B A A B … */
export async function measureRounds(
  rig: Rig,
  { rounds, only, ...stretch }: Stretch & { readonly rounds: number; readonly only?: readonly SubjectName[] },
  say: (line: string) => void,
): Promise<RoundsResult> {
  const prepared = await prepareSubjects(rig);
  const { subjects } = prepared;
  const names = SUBJECTS.filter((name) => only?.includes(name) ?? true);
  const measured: Partial<Round>[] = [];
  try {
    // What runs for the first time is not yet compiled.
    for (const name of names) await subjects[name]({ warmupSeconds: 0.5, seconds: 1 });
    for (let round = 1; round <= rounds; round += 1) {
      const readings: Partial<Record<SubjectName, Reading>> = {};
      for (const name of round % 2 === 1 ? names : names.toReversed()) readings[name] = await subjects[name](stretch);
      measured.push(readings);
      const rates = names.map((name) => `${name} ${Math.round(readings[name]?.perSecond ?? 0)}`);
      say(`round ${round} of ${rounds}, per second: ${rates.join(', ')}`);
    }
  } finally {
    await prepared.close();
  }
  const figures = names.map((name) => [name, figuresOf(measured.flatMap((round) => round[name] ?? []))] as const);
  return {
    rounds,
    ratios: measuredRatios(measured, rig.keepsTemporalInPostgres),
    subjects: Object.fromEntries(figures),
    headroom: headroomOf(Object.fromEntries(figures)),
  };
}

function figuresOf(readings: readonly Reading[]): SubjectFigures {
  const processes = Object.keys(readings[0]?.cpuMs ?? {});
  const cpu = processes.map((name) => [name, median(readings.map(({ cpuMs }) => cpuMs[name] ?? 0))] as const);
  return {
    perSecond: spreadOf(readings.map(({ perSecond }) => perSecond)),
    cpuMs: Object.fromEntries(cpu.filter(([, milliseconds]) => milliseconds >= LEAST_CPU_MS)),
    p50Ms: median(readings.map(({ latenciesMs }) => percentile(latenciesMs, 0.5))),
    p99Ms: median(readings.map(({ latenciesMs }) => percentile(latenciesMs, 0.99))),
  };
}

/** A core of its own gives the generator 1,000 ms of CPU a second. */
function headroomOf(figures: Readonly<Record<string, SubjectFigures>>): Record<string, number> {
  return Object.fromEntries(
    ASKED_OVER_HTTP.flatMap((name) => {
      const subject = figures[name];
      const cpuMs = subject?.cpuMs['generator'];
      return subject && cpuMs !== undefined ? [[name, 1_000 / cpuMs / subject.perSecond.median]] : [];
    }),
  );
}
