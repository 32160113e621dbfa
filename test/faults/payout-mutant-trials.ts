import { setTimeout as sleep } from 'node:timers/promises';
import { onlyRow } from '../../src/db/connection/require-row';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { payoutWorkflowId } from '../../workflows/ids';
import { asSuperuser } from '../support/backdate';
import { COMPLETED_AFTER_10_S as SLOW_ACCOUNT } from './payout-workload';
import type { FaultStack } from './stack';
import { waitForHeldStatements } from './trials';
import type { Workload } from './workload';

/* What the trials of mutants do beside their scenarios. */

const POLL_MS = 200;
/** Until a shop has sold something that is settled, beside other tests. */
const WAIT_TIMEOUT_MS = 120_000;

interface OpenPayout {
  readonly payoutId: string;
  readonly merchantId: string;
}

/**
 * An operator loses the workflow of a submitted payout, and a recovery starts it as approved. The product's triggers
 * forbid that, so they are off.
 */
export async function resubmit({ db, client }: FaultStack, workload: Workload): Promise<void> {
  workload.startScenario('payoutSlow');
  const { payoutId, merchantId } = await waitForSubmitted(db);
  await client.workflow.getHandle(payoutWorkflowId(payoutId)).terminate('fault test');
  await asSuperuser(
    db,
    `update payouts set status = 'approved', submitted_at = null, last_sent_at = null,
    send_count = 0, send_outcome = null where id = '${payoutId}'`,
  );
  await new PaymentWorkflowClient(client).payouts.resume({ payoutId, merchantId });
}

async function waitForSubmitted(db: FaultStack['db']): Promise<OpenPayout> {
  for (const untilMs = Date.now() + WAIT_TIMEOUT_MS; Date.now() < untilMs; await sleep(POLL_MS)) {
    const { rows } = await db.query<OpenPayout>(
      `select id as "payoutId", merchant_id as "merchantId" from payouts
       where status = 'submitted' and send_outcome = 'accepted'
         and bank_account_id in (select id from bank_accounts where last_four = $1)`,
      [SLOW_ACCOUNT.slice(-4)],
    );
    if (rows[0]) return rows[0];
  }
  throw new Error('no payout was submitted');
}

/**
 * Two members request one balance at the same time. The turn that would keep the second request from being started is
 * forgotten, the triggers that would reject its claim are off, and so is the comparison with the balance.
 */
export async function claimTwice({ db }: FaultStack, workload: Workload): Promise<void> {
  const switchTriggers = (what: 'disable' | 'enable') =>
    db.query(`alter table balance_transactions ${what} trigger append_only, ${what} trigger claim_of_request`);
  await switchTriggers('disable');
  await db.query(`create function forget_turn() returns trigger language plpgsql security definer as $$
    begin delete from payout_request_turns where merchant_id = new.merchant_id; return new; end $$;
    create trigger forget_turn before insert on payout_request_turns for each row execute function forget_turn()`);
  const restoreBalanceCheck = await switchBalanceCheckOff(db);
  const holder = await db.connect();
  try {
    await holder.query('begin');
    // The first request waits for it with its lines claimed, and the second one waits for the first.
    await holder.query('select from payout_policies for update');
    workload.startScenario('payoutTwice');
    await waitForHeldStatements(holder, { statement: 'insert into payouts', count: 2, timeoutMs: WAIT_TIMEOUT_MS });
    await holder.query('rollback');
  } finally {
    holder.release(true);
    await switchTriggers('enable');
    await db.query('drop function forget_turn cascade');
    await restoreBalanceCheck();
  }
}

/** @returns what switches it on again */
async function switchBalanceCheckOff(db: FaultStack['db']): Promise<() => Promise<unknown>> {
  const read = "select pg_get_functiondef('book_balance_transaction'::regproc) as definition";
  const { definition } = onlyRow((await db.query<{ definition: string }>(read)).rows);
  const broken = definition.replace('available_balance(booked.merchant_id) < 0', 'false');
  if (broken === definition) throw new Error('book_balance_transaction does not compare the balance');
  await db.query(broken);
  return () => db.query(definition);
}
