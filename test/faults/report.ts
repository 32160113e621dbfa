import { INVARIANT_NAMES, INVARIANTS } from './invariants';
import { KILL_POINT_NAMES, KILL_POINTS, VICTIMS } from './kill-points';
import { countHits, inSeconds, type RunReport } from './run';

const MAX_SHOWN = 10;

/** The trials and the results of a run as text. */
export function describeRun(report: RunReport): string {
  const { trials, scenarios, requests, payments, payouts, webhooks } = report;
  const { convergedMs, reconciled, recovered, rewound } = report;
  const kills = trials.filter(({ how, outcome }) => how === 'kill' && outcome === 'hit').length;
  const stops = trials.filter(({ how, outcome }) => how === 'stop' && outcome === 'hit').length;
  const missed = trials.filter(({ outcome }) => outcome === 'missed').length;
  const withProviderFault = trials.filter(({ provider }) => provider !== null).length;
  const bankDelays = trials.flatMap(({ bankDelaySeconds }) => bankDelaySeconds ?? []);
  return [
    `${kills} kills, ${stops} stops (SIGSTOP, SIGCONT), ${missed} trials missed, ` +
      `${withProviderFault} with an injected fault of the acquirer or the bank`,
    `the bank confirmed refunds after ${Math.min(...bankDelays)} to ${Math.max(...bankDelays)} s`,
    `${scenarios} scenarios, ${payments} payments, ${payouts} payouts, ${requests} requests, ` +
      `${webhooks} webhooks received`,
    `converged after ${convergedMs.map(inSeconds).join(', ')}; lunas reconcile found ${reconciled} breaks`,
    ...(recovered === null ? [] : [`Temporal's database was deleted once; lunas recover: ${recovered}`]),
    `Temporal's database was restored ${rewound.length} times; lunas recover: ${rewound.join(' ')}`,
    '',
    hitsTable(report),
    '',
    ...INVARIANT_NAMES.map((name) => {
      const { checks, violations } = report.results[name];
      return `${name} ${INVARIANTS[name]}: ${checks} checks, ${violations.length} violations`;
    }),
    ...violationsOf(report),
  ].join('\n');
}

function hitsTable({ trials }: RunReport): string {
  const width = Math.max(...KILL_POINT_NAMES.map((point) => `${point} ${KILL_POINTS[point].between}`.length));
  const line = (first: string, cells: readonly (string | number)[]) =>
    first.padEnd(width) + cells.map((cell) => String(cell).padStart(10)).join('');
  return [
    line('Kills', VICTIMS),
    ...KILL_POINT_NAMES.map((point) =>
      line(
        `${point} ${KILL_POINTS[point].between}`,
        VICTIMS.map((victim) => countHits(trials, victim, point)),
      ),
    ),
  ].join('\n');
}

function violationsOf({ results }: RunReport): string[] {
  const lines: string[] = [];
  for (const name of INVARIANT_NAMES) {
    const { violations } = results[name];
    for (const violation of violations.slice(0, MAX_SHOWN)) lines.push(`  ${name}: ${violation}`);
    if (violations.length > MAX_SHOWN) lines.push(`  … and ${violations.length - MAX_SHOWN} more`);
  }
  return lines;
}
