import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { parseMeasuredRun } from './costs';
import { capacityOf, planCapacity } from './model';
import { bottlenecksOf, comparisonOf, costsOf, settingsOf, sizesOf, textOf } from './report';

const MAX_PAYMENTS_PER_SECOND = 100_000;

interface Options {
  readonly paymentsPerSecond: number;
  readonly results: string;
  readonly costs?: boolean;
  readonly json?: boolean;
}

function readOptions(root: string): Options {
  return new Command('npm run scale --')
    .description('Computes the size of a cluster from the measured cost of a payment (docs/scale.md).')
    .requiredOption('--payments-per-second <rate>', 'paid and settled payments at the peak', parseRate)
    .option(
      '--results <file>',
      'the result of `npm run bench` whose CPU times are used',
      path.join(root, 'bench', 'results', 'two-cores.json'),
    )
    .option('--costs', 'print the cost of a payment, the limits and the assumptions too, with their sources')
    .option('--json', 'print one JSON object')
    .allowExcessArguments(false)
    .parse()
    .opts<Options>();
}

function parseRate(text: string): number {
  const rate = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (rate > 0 && rate <= MAX_PAYMENTS_PER_SECOND) return rate;
  throw new InvalidArgumentError(`It is a number above 0 and up to ${MAX_PAYMENTS_PER_SECOND}.`);
}

/** `npm run scale`: prints the plan for a rate. @param root the root of the repository */
export function main(root: string): void {
  const { paymentsPerSecond, results, costs, json } = readOptions(root);
  const run = parseMeasuredRun(existsSync(results) ? readFileSync(results, 'utf8') : '', results);
  const plan = planCapacity(paymentsPerSecond, run.rounds.benchmarks);
  const capacity = capacityOf(run.machine.cores, run.rounds.benchmarks);
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...plan, check: capacity }, null, 2)}\n`);
    return;
  }
  const first = plan.firstBottleneck;
  const sections = [
    textOf(sizesOf([plan])),
    textOf(settingsOf([plan])),
    textOf(bottlenecksOf(plan)),
    `First bottleneck: ${first ? `${first.name}, at ${first.paymentsPerSecond} payments a second` : 'none'}.`,
    textOf(comparisonOf(run, capacity)),
    ...(costs ? [textOf(costsOf(plan, run))] : []),
  ];
  process.stdout.write(`${sections.join('\n\n')}\n`);
}
