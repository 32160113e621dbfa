import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DAILY_RUN_STATEMENTS } from '../../../src/db/transitions/daily-runs';
import { LATE_PAYMENT_STATEMENTS } from '../../../src/db/transitions/late-payment-transitions';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import { HEARTBEAT_STATEMENTS } from '../../../src/db/transitions/role-heartbeats';
import { RECORD_FAILED } from '../../../src/webhooks/record-attempt';

const FILE = path.join(__dirname, 'statements.sql');

const STATEMENTS = [
  ...Object.values(transitionWriters).map(({ statement }) => statement),
  ...LATE_PAYMENT_STATEMENTS,
  ...DAILY_RUN_STATEMENTS,
  ...HEARTBEAT_STATEMENTS,
  RECORD_FAILED,
];

function print({ name, text, parameters }: (typeof STATEMENTS)[number]): string {
  const numbered = parameters.map((parameter, index) => `$${index + 1} ${parameter}`).join(', ');
  const comment = numbered.replaceAll(/(.{1,100})(, |$)/g, '--   $1\n');
  return `-- ${name}\n${comment}${text.trim()};\n`;
}

describe('the statements of transitions, late payments, daily runs and failed attempts', () => {
  it('the statements of transitions are those in statements.sql (UPDATE_SQL=1 writes it)', () => {
    const header = '-- Generated from the sources and compared in a test: do not edit. UPDATE_SQL=1 writes it.\n';
    const printed = [header, ...STATEMENTS.map(print)].join('\n');
    if (process.env.UPDATE_SQL === '1') writeFileSync(FILE, printed);
    expect(readFileSync(FILE, 'utf8')).toBe(printed);
  });
});
