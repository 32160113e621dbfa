import { oneDigit, table, whole } from '../table';
import { COMPARED_OPERATIONS, type ComparedOperation, type KillBillResult } from './compare';

const TITLES = {
  create: 'create',
  lifecycle: 'lifecycle, with its notifications',
  get: 'GET of a payment',
} as const satisfies Record<ComparedOperation, string>;

/** What the figures do not show, as rows: both sides. */
const DIFFERENCES = [
  ['acquirer', 'two calls over HTTP, and its notification; the sandbox is not counted, its statements are', 'none'],
  ['create', 'a QRIS code, and a timer that expires the payment', 'an authorization, without a timer'],
  ['lifecycle', 'paid, and settled after a second', 'authorized and captured'],
  ['lost processes', 'each step is continued by another worker', 'a janitor repairs pending transactions'],
  ['notifications', '4, signed, each attempt recorded', '2, unsigned, retried'],
  ['ledger', 'entries of each movement, and a balance', 'none of payments'],
  ['personal data', 'encrypted, in Temporal too', 'in clear'],
  ['log', 'one line for each request', 'a line for each header of request and response'],
  ['history', 'transitions, and the history of the workflow', 'a copy of each row in a history table, an audit log'],
] as const;

/** The tables of the comparison, in Markdown. */
export function killBillReport({ lunas, killBill }: KillBillResult): string {
  const row = (title: string, ours: number, theirs: number, format = oneDigit): string[] => {
    return [title, format(ours), format(theirs), (ours / theirs).toFixed(2)];
  };
  const operations = COMPARED_OPERATIONS.flatMap((name) => {
    const [ours, theirs] = [lunas.operations[name], killBill.operations[name]];
    return [
      row(`${TITLES[name]}: CPU ms`, ours.cpuMs, theirs.cpuMs, (value) => value.toFixed(2)),
      row(`${TITLES[name]}: p50 ms, one at a time`, ours.p50Ms, theirs.p50Ms),
      row(`${TITLES[name]}: per s`, ours.perSecond, theirs.perSecond, whole),
    ];
  });
  // A millisecond of each of a million payments is a thousand seconds; a kilobyte of each is a gigabyte.
  const million = [
    row('CPU seconds', lunas.operations.lifecycle.cpuMs * 1_000, killBill.operations.lifecycle.cpuMs * 1_000, whole),
    row('GB stored', lunas.storedKb, killBill.storedKb),
    row('GB of WAL', lunas.walKb, killBill.walKb),
  ];
  return [
    table(['Operation', 'Lunas', 'Kill Bill', 'ratio'], operations),
    table(['A million payments', 'Lunas', 'Kill Bill', 'ratio'], million),
    table(
      ['CPU ms of a lifecycle, by process', 'ms'],
      [...processesOf('Lunas', lunas), ...processesOf('Kill Bill', killBill)],
    ),
    table(['What it does', 'Lunas', 'Kill Bill'], DIFFERENCES),
  ].join('\n\n');
}

function processesOf(side: string, { operations }: KillBillResult['lunas']): string[][] {
  return Object.entries(operations.lifecycle.cpuMsByProcess).map(([name, ms]) => [`${side}: ${name}`, oneDigit(ms)]);
}
