import type { PoolClient, QueryResult } from 'pg';
import { z } from 'zod';
import type { Pool } from '../../src/db/connection/pool';

/** What a statement of the product read. */
export interface ExplainedStatement {
  /** The name of the statement, or the beginning of its text. */
  readonly statement: string;
  /** A named statement has a custom plan for its values, or one generic plan. */
  readonly planMode: 'custom' | 'generic';
  /** Shared buffers that were hit or read, and temporary buffers. */
  readonly buffers: number;
  readonly plan: string;
}

interface Statement {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** For each statement, by default. */
const MAX_EXPLAINED = 3;

/**
 * A pool that explains each statement before it runs, with the same values, in a transaction that is rolled back.
 * It explains every statement of the pool, so a new statement is included without a change of the test.
 */
export function explainQueries(db: Pool, maxExplained = MAX_EXPLAINED): { db: Pool; explained: ExplainedStatement[] } {
  const explained: ExplainedStatement[] = [];
  const times = new Map<string, number>();
  const explaining = new Proxy(db, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      if (key !== 'query') return member.bind(target);
      return async (...given: unknown[]) => {
        const statement = statementIn(given);
        const count = times.get(statement.text) ?? 0;
        times.set(statement.text, count + 1);
        if (count < maxExplained) explained.push(...(await explain(db, statement)));
        return member.call(target, ...given);
      };
    },
  });
  return { db: explaining, explained };
}

const statementSchema = z.object({
  name: z.string().optional(),
  text: z.string(),
  values: z.array(z.unknown()).default([]),
});

function statementIn([first, values = []]: readonly unknown[]): Statement {
  return statementSchema.parse(typeof first === 'string' ? { text: first, values } : { values, ...Object(first) });
}

async function explain(db: Pool, statement: Statement): Promise<ExplainedStatement[]> {
  const modes = statement.name === undefined ? (['custom'] as const) : (['custom', 'generic'] as const);
  const client = await db.connect();
  const explained: ExplainedStatement[] = [];
  try {
    for (const planMode of modes) {
      await client.query(`set plan_cache_mode = force_${planMode}_plan`);
      await client.query(`prepare explained as ${statement.text}`);
      const values = statement.values.map(literal).join(', ');
      const execute = values === '' ? 'execute explained' : `execute explained (${values})`;
      // The first call of a function on a connection reads the catalog: connections of a pool have done that.
      await rolledBack(client, execute);
      const result = await rolledBack(client, `explain (analyze, buffers, timing off) ${execute}`);
      await client.query('deallocate explained');
      const lines = result.rows.map((row) => row['QUERY PLAN']);
      explained.push({
        statement: statement.name ?? statement.text.trim().slice(0, 60),
        planMode,
        buffers: buffersOf(lines),
        plan: lines.join('\n'),
      });
    }
  } finally {
    client.release(true);
  }
  return explained;
}

async function rolledBack(client: PoolClient, text: string): Promise<QueryResult<{ 'QUERY PLAN': string }>> {
  await client.query('begin');
  const result = await client.query<{ 'QUERY PLAN': string }>(text);
  await client.query('rollback');
  return result;
}

/** The first line with buffers is the sum of the statement. */
function buffersOf(lines: readonly string[]): number {
  const total = lines.find((line) => line.includes('Buffers:')) ?? '';
  return [...total.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** `EXECUTE` takes literals only. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return quote(`{${value.map(element).join(',')}}`);
  return quote(text(value));
}

function element(value: unknown): string {
  return value === null || value === undefined ? 'null' : `"${text(value).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function text(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return value instanceof Buffer ? String.raw`\x${value.toString('hex')}` : String(value);
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
