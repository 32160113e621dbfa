import type { Pool } from '../../src/db/connection/pool';
import { eventually } from './eventually';

/** Any number that nothing else locks. */
const LOCK = 471_100;

/** Stops statements of other connections where they write a table. */
export interface Gate {
  /** @param time such as `before insert` */
  closeAt(table: string, time: string): Promise<void>;
  /**
   * Resolves when so many statements of the database wait for a lock.
   * @returns the ids of their server processes
   */
  waiting(count: number): Promise<number[]>;
  /** Lets all of them pass, and later ones too. */
  open(): Promise<void>;
  remove(): Promise<void>;
}

/** @param db a pool of a superuser */
export async function openGate(db: Pool): Promise<Gate> {
  const keeper = await db.connect();
  await keeper.query(
    `create function pass_gate() returns trigger language plpgsql as
     'begin perform pg_advisory_xact_lock_shared(${LOCK}); return new; end'`,
  );
  const waiting = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return {
    async closeAt(table, time) {
      const level = time.startsWith('after') ? 'statement' : 'row';
      await keeper.query(`select pg_advisory_lock(${LOCK})`);
      await keeper.query(`create trigger gate ${time} on ${table} for each ${level} execute function pass_gate()`);
    },
    async waiting(count) {
      return eventually(
        async () => (await keeper.query<{ pid: number }>(`select pid ${waiting}`)).rows.map(({ pid }) => pid),
        (found) => found.length === count,
      );
    },
    async open() {
      await keeper.query('select pg_advisory_unlock_all()');
    },
    async remove() {
      await keeper.query('select pg_advisory_unlock_all()');
      await keeper.query('drop function pass_gate cascade');
      keeper.release();
    },
  };
}
