import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { formatRupiah } from '../../domain/money';
import type { LedgerBreak } from '../../services/ledger/find-ledger-breaks';
import { verifyLedger, type AccountBalance, type LedgerVerification } from '../../services/ledger/verify-ledger';
import type { LunasCommand } from '../lunas-command';
import { formatTable, type CommandResult } from '../output';
import type { Terminal } from '../terminal';

const REPORT_INTERVAL_MS = 5_000;

export function defineLedger(ledger: LunasCommand): void {
  ledger
    .command('verify')
    .description('recompute the ledger and list its breaks; exit code 1 if there are any')
    .option('--all', 'verify every payment, not only those that changed since the last verification without breaks')
    .examples('lunas ledger verify', 'lunas ledger verify --all --json')
    .databaseAction(
      z.object({ all: z.boolean().default(false) }),
      async ({ all }, db) =>
        verificationResult(await verifyLedger(db, { all, onProgress: progressReporter(ledger.terminal) })),
      LONG_STATEMENT_MS,
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
  const { asOf, since, payments, payouts, postings, balances, breaks, breakCount } = verification;
  const changed = since === null ? '' : `, changed since ${since.toISOString()}`;
  const counted = `${payments} payments, ${payouts} payouts and ${postings} postings`;
  const seen = `${counted}${changed}, as of ${asOf.toISOString()}`;
  const isSound = breakCount === 0;
  const parts = [
    `${seen}: ${isSound ? 'no breaks' : `${breakCount} breaks`}.`,
    formatTable(balances.map(balanceRow), 'The ledger has no entries yet.'),
    ...(isSound ? [] : [formatTable(breaks.map(breakRow), '')]),
    ...(breaks.length < breakCount ? [`These are the first ${breaks.length}.`] : []),
  ];
  return {
    json: { ledger: verification },
    text: parts.join('\n\n'),
    ...(!isSound && { failure: `The ledger has ${breakCount === 1 ? 'a break' : `${breakCount} breaks`}.` }),
  };
}

function balanceRow({ account, debitRupiah, creditRupiah, balanceRupiah }: AccountBalance) {
  return {
    ACCOUNT: account,
    DEBIT: formatRupiah(debitRupiah),
    CREDIT: formatRupiah(creditRupiah),
    BALANCE: `${formatRupiah(Math.abs(balanceRupiah))} ${balanceRupiah < 0 ? 'credit' : 'debit'}`,
  };
}

function breakRow({ paymentId, kind, detail }: LedgerBreak) {
  return { PAYMENT: paymentId, BREAK: kind, DETAIL: detail };
}
