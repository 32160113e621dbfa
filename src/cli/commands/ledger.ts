import type { Command } from 'commander';
import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import type { LedgerBreak } from '../../operator/find-ledger-breaks';
import { type AccountBalance, type LedgerVerification, verifyLedger } from '../../operator/verify-ledger';
import { LONG_STATEMENT_MS } from '../../db/pool';
import { defineAction, withExamples } from '../command-action';
import { type CommandResult, formatTable } from '../output';
import { withDatabase } from '../command-context';
import type { Terminal } from '../terminal';

const REPORT_INTERVAL_MS = 5_000;

export function addLedgerCommand(program: Command, terminal: Terminal): void {
  const ledger = program.command('ledger').description('the double-entry ledger');
  const command = ledger
    .command('verify')
    .description('recompute the ledger and list its breaks; exit code 1 if there are any')
    .option('--all', 'verify every payment, not only those that changed since the last verification without breaks');
  withExamples(command, 'lunas ledger verify', 'lunas ledger verify --all --json');
  const input = z.object({ all: z.boolean().default(false) });
  defineAction(command, terminal, input, ({ all }, context) =>
    withDatabase(
      context,
      async (db) => verificationResult(await verifyLedger(db, { all, onProgress: progressReporter(terminal) })),
      LONG_STATEMENT_MS,
    ),
  );
}

/** Prints the progress at intervals, on stderr. */
function progressReporter(terminal: Terminal): (payments: number) => void {
  let nextMs = Date.now() + REPORT_INTERVAL_MS;
  return (payments) => {
    if (Date.now() < nextMs) return;
    nextMs = Date.now() + REPORT_INTERVAL_MS;
    terminal.stderr.write(`${payments} payments verified\n`);
  };
}

function verificationResult(verification: LedgerVerification): CommandResult {
  const { asOf, since, payments, postings, balances, breaks, breakCount } = verification;
  const changed = since === null ? '' : `, changed since ${since.toISOString()}`;
  const seen = `${payments} payments and ${postings} postings${changed}, as of ${asOf.toISOString()}`;
  const isSound = breakCount === 0;
  const parts = [
    `${seen}: ${isSound ? 'no breaks' : `${breakCount} breaks`}.`,
    formatTable(balances, BALANCE_COLUMNS, 'The ledger has no entries yet.'),
    ...(isSound ? [] : [formatTable(breaks, BREAK_COLUMNS, '')]),
    ...(breaks.length < breakCount ? [`These are the first ${breaks.length}.`] : []),
  ];
  return {
    json: { ledger: verification },
    text: parts.join('\n\n'),
    ...(!isSound && { failure: `The ledger has ${breakCount === 1 ? 'a break' : `${breakCount} breaks`}.` }),
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
