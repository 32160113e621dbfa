import type { Command } from 'commander';
import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import type { LedgerBreak } from '../../operator/ledger-breaks';
import { type AccountBalance, type LedgerVerification, verifyLedger } from '../../operator/verify-ledger';
import { LONG_STATEMENT_MS } from '../../db/pool';
import { answering, withExamples } from '../answering';
import { type Answer, formatTable } from '../output';
import { withDatabase } from '../settings';
import type { Terminal } from '../terminal';

const REPORT_EVERY_MS = 5_000;

export function addLedgerCommand(program: Command, terminal: Terminal): void {
  const ledger = program.command('ledger').description('the double-entry books');
  const command = ledger
    .command('verify')
    .description('recompute the ledger and name whatever is wrong; exit code 1 where something is')
    .option('--all', 'every payment, not only those that changed since the last verification without breaks');
  withExamples(command, 'lunas ledger verify', 'lunas ledger verify --all --json');
  const input = z.object({ all: z.boolean().default(false) });
  answering(command, terminal, input, ({ all }, settings) =>
    withDatabase(
      settings,
      async (db) => verificationAnswer(await verifyLedger(db, { all, onProgress: reporter(terminal) })),
      LONG_STATEMENT_MS,
    ),
  );
}

/** Says from time to time how far it is. */
function reporter(terminal: Terminal): (payments: number) => void {
  let nextMs = Date.now() + REPORT_EVERY_MS;
  return (payments) => {
    if (Date.now() < nextMs) return;
    nextMs = Date.now() + REPORT_EVERY_MS;
    terminal.stderr.write(`${payments} payments looked at\n`);
  };
}

function verificationAnswer(verification: LedgerVerification): Answer {
  const { asOf, since, payments, postings, balances, breaks, breakCount } = verification;
  const changed = since === null ? '' : `, changed since ${since.toISOString()}`;
  const seen = `${payments} payments and ${postings} postings${changed}, as of ${asOf.toISOString()}`;
  const isWell = breakCount === 0;
  const parts = [
    `${seen}: ${isWell ? 'the books are right' : `${breakCount} breaks`}.`,
    formatTable(balances, BALANCE_COLUMNS, 'Nothing is booked yet.'),
    ...(isWell ? [] : [formatTable(breaks, BREAK_COLUMNS, '')]),
    ...(breaks.length < breakCount ? [`These are the first ${breaks.length}.`] : []),
  ];
  return {
    json: { ledger: verification },
    text: parts.join('\n\n'),
    ...(!isWell && { failure: `The ledger has ${breakCount === 1 ? 'a break' : `${breakCount} breaks`}.` }),
  };
}

const BALANCE_COLUMNS = {
  ACCOUNT: (balance: AccountBalance) => balance.account,
  DEBIT: (balance: AccountBalance) => formatRupiah(balance.debitRupiah),
  CREDIT: (balance: AccountBalance) => formatRupiah(balance.creditRupiah),
  BALANCE: ({ balanceRupiah }: AccountBalance) =>
    `${formatRupiah(Math.abs(balanceRupiah))} ${balanceRupiah < 0 ? 'credit' : 'debit'}`,
};

const BREAK_COLUMNS = {
  PAYMENT: (found: LedgerBreak) => found.paymentId,
  BREAK: (found: LedgerBreak) => found.kind,
  DETAIL: (found: LedgerBreak) => found.detail,
};
