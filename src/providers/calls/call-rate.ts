import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../db/connection/pool';
import { indeterminate } from '../../domain/provider-call';
import type { CallWrapper } from './wrap-calls';

/** A call that has to wait for longer is not made: it would occupy a slot of the worker. */
const MAX_WAIT_MS = 1_000;
/**
 * No reservation is later: at one call per second, the longest wait and a second. So a later time was written before
 * the clock of PostgreSQL went back, as after a fail-over.
 */
const MAX_AHEAD_SECONDS = 3;

/**
 * Keeps the calls to a provider account to a rate, over all processes: each call reserves the next time of the
 * account's schedule in PostgreSQL, and waits until then. The times are equally spaced. A counter per second would
 * allow twice the rate around the end of a second.
 * @param rate of the account now, in calls per second; null: no limit
 */
export function callRate(db: Queryable, accountId: string, rate: () => number | null): CallWrapper {
  return async (call, work) => {
    const callsPerSecond = rate();
    if (callsPerSecond === null) return work();
    const maxWaitMs = Math.min(MAX_WAIT_MS, (call.deadlineAtMs - Date.now()) / 2);
    const waitMs = await reserve(db, { accountId, callsPerSecond, maxWaitMs });
    if (waitMs === undefined) {
      return { ...indeterminate(`the limit of ${callsPerSecond} calls per second is reached`), isRateLimited: true };
    }
    await sleep(waitMs, undefined, { signal: call.signal }).catch(() => undefined);
    return call.signal.aborted ? indeterminate('the call was cancelled before it was made') : work();
  };
}

interface Reservation {
  readonly accountId: string;
  readonly callsPerSecond: number;
  readonly maxWaitMs: number;
}

/** @returns the time until the reserved call; undefined if it is too long, and nothing is reserved */
async function reserve(db: Queryable, reservation: Reservation): Promise<number | undefined> {
  const { accountId, callsPerSecond, maxWaitMs } = reservation;
  // A process may wait for the row meanwhile, so the times are those of the clock, not of the statement.
  const { rows } = await db.query<{ waitMs: number }>({
    name: 'reserve_provider_call',
    text: `
      insert into provider_call_schedules as schedule (provider_account_id, next_call_at)
      values ($1, clock_timestamp() + interval '1 second' / $2::float8)
      on conflict (provider_account_id) do update
        set next_call_at = interval '1 second' / $2::float8 + case
          when schedule.next_call_at > clock_timestamp() + interval '${MAX_AHEAD_SECONDS} seconds'
            then clock_timestamp()
          else greatest(schedule.next_call_at, clock_timestamp())
        end
        where schedule.next_call_at <= clock_timestamp() + interval '1 millisecond' * $3::float8
          or schedule.next_call_at > clock_timestamp() + interval '${MAX_AHEAD_SECONDS} seconds'
      returning greatest(0, 1000 * extract(epoch from
        next_call_at - interval '1 second' / $2::float8 - clock_timestamp()))::float8 as "waitMs"`,
    values: [accountId, callsPerSecond, maxWaitMs],
  });
  return rows[0]?.waitMs;
}
