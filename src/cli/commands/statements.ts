import { Option } from 'commander';
import { z } from 'zod';
import { requireMerchant } from '../../db/merchants/require-merchant';
import { formatRupiah } from '../../domain/money';
import { formatInWib, monthInWib } from '../../domain/wib';
import {
  dayStateOf,
  getStatement,
  listBalanceDays,
  streamStatementCsv,
  type BalanceDay,
  type BalanceStatement,
  type StatementLine,
} from '../../services/payouts/balance';
import type { LunasCommand } from '../lunas-command';
import { day, id, month } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';
import { printParts } from '../print-parts';

const MAX_LINES = 1_000;

export function defineStatements(statements: LunasCommand): void {
  addList(statements);
  addShow(statements);
}

function addList(statements: LunasCommand): void {
  statements
    .command('list')
    .description('list the days of a month, the open day as provisional')
    .requiredOption('--merchant <id>', 'the merchant')
    .option('--month <month>', 'such as 2026-01 (default: this month)')
    .examples(
      'lunas statements list --merchant MERCHANT_ID',
      'lunas statements list --merchant MERCHANT_ID --month 2026-01',
    )
    .databaseAction(z.object({ merchant: id, month: month.optional() }), async (options, db) => {
      await requireMerchant(db, options.merchant);
      const days = await listBalanceDays(db, options.merchant, options.month ?? monthInWib(new Date()));
      return { json: { days }, text: formatTable(days.map(dayRow), 'The balance did not change in this month.') };
    });
}

function dayRow(balanceDay: BalanceDay) {
  const { day, openingRupiah, creditRupiah, debitRupiah, closingRupiah, lineCount } = balanceDay;
  return {
    DAY: day,
    OPENING: formatRupiah(openingRupiah),
    IN: formatRupiah(creditRupiah),
    OUT: formatRupiah(debitRupiah),
    CLOSING: formatRupiah(closingRupiah),
    LINES: lineCount,
    STATE: dayStateOf(balanceDay),
  };
}

function addShow(statements: LunasCommand): void {
  statements
    .command('show')
    .description(`show a day: opening, the first ${MAX_LINES} lines, closing`)
    .requiredOption('--merchant <id>', 'the merchant')
    .requiredOption('--day <day>', 'such as 2026-01-31')
    .addOption(new Option('--csv', 'print all lines as CSV').conflicts('json'))
    .examples(
      'lunas statements show --merchant MERCHANT_ID --day 2026-01-31',
      'lunas statements show --merchant MERCHANT_ID --day 2026-01-31 --csv > statement.csv',
    )
    .databaseAction(z.object({ merchant: id, day, csv: z.boolean().default(false) }), async (options, db) => {
      await requireMerchant(db, options.merchant);
      if (options.csv) {
        return printParts(streamStatementCsv(db, options.merchant, options.day), statements.terminal);
      }
      return statementResult(await getStatement(db, options.merchant, options.day, { limit: MAX_LINES }));
    });
}

function statementResult({ next, ...statement }: BalanceStatement): CommandResult {
  const { openingRupiah, closingRupiah, lineCount, lines } = statement;
  const fields = formatFields({
    Day: statement.day,
    State: dayStateOf(statement),
    Opening: formatRupiah(openingRupiah),
    Closing: formatRupiah(closingRupiah),
    Lines: lineCount,
  });
  const more = next === null ? [] : [`These are the first ${lines.length} lines; --csv prints all.`];
  const parts = [fields, formatTable(lines.map(lineRow), 'The balance did not change on this day.'), ...more];
  return { json: { statement: { ...statement, lines, hasMore: next !== null } }, text: parts.join('\n\n') };
}

function lineRow({ occurredAt, kind, referenceId, amountRupiah, balanceAfterRupiah }: StatementLine) {
  return {
    OCCURRED: formatInWib(occurredAt),
    KIND: kind,
    REFERENCE: referenceId,
    AMOUNT: formatRupiah(amountRupiah),
    BALANCE: formatRupiah(balanceAfterRupiah),
  };
}
