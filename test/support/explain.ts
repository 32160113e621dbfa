import type { QueryResult } from 'pg';
import { z } from 'zod';
import type { Pool } from '../../src/db/pool';

/** What a statement read when it was run as the product sends it. */
export interface ExplainedStatement {
  /** Its name, or its beginning. */
  readonly statement: string;
  /** A named statement is planned for its values, or once for all values. */
  readonly planMode: 'custom' | 'generic';
  /** Shared buffers hit or read, and temporary ones. */
  readonly buffers: number;
  readonly plan: string;
}

interface Statement {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Each statement is explained so often at most. */
const MAX_EXPLAINED = 3;

/**
 * The pool, whose statements are explained just before they run: with the same text and values, in a transaction that is rolled
 * back. Whatever goes through the pool is explained, so that a new statement cannot escape.
 */
export function explainQueries(db: Pool): { db: Pool; explained: ExplainedStatement[] } {
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
        if (count < MAX_EXPLAINED) explained.push(...(await explain(db, statement)));
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
      await client.query('begin');
      await client.query(`set local plan_cache_mode = force_${planMode}_plan`);
      await client.query(`prepare explained as ${statement.text}`);
      const values = statement.values.map(literal).join(', ');
      const execute = values === '' ? 'execute explained' : `execute explained (${values})`;
      const result: QueryResult<{ 'QUERY PLAN': string }> = await client.query(
        `explain (analyze, buffers, timing off) ${execute}`,
      );
      await client.query('rollback');
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

/** The first line about buffers is that of the whole statement. */
function buffersOf(lines: readonly string[]): number {
  const total = lines.find((line) => line.includes('Buffers:')) ?? '';
  return [...total.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** As `EXECUTE` takes it: it has no parameters of its own. */
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
