import { parse } from 'pgsql-parser';
import { z } from 'zod';

/* What a migration must not do to a table that has rows, and that the previous version still uses. */

const relation = z.object({ relname: z.string() });
const constraint = z.object({
  contype: z.string(),
  skip_validation: z.boolean().optional(),
  raw_expr: z.unknown().optional(),
});
const columnDefinition = z.object({ constraints: z.array(z.object({ Constraint: constraint })).default([]) });
const alterCommand = z.object({
  subtype: z.string(),
  def: z.object({ Constraint: constraint.optional(), ColumnDef: columnDefinition.optional() }).optional(),
});

const statementSchema = z.object({
  CreateStmt: z.object({ relation }).optional(),
  IndexStmt: z.object({ relation, if_not_exists: z.boolean().optional() }).optional(),
  AlterTableStmt: z.object({ relation, cmds: z.array(z.object({ AlterTableCmd: alterCommand })) }).optional(),
  UpdateStmt: z.object({ relation }).optional(),
  RenameStmt: z.object({ relation: relation.optional() }).optional(),
  DropStmt: z.object({ removeType: z.string() }).optional(),
});
type Statement = z.infer<typeof statementSchema>;
type AlterCommand = z.infer<typeof alterCommand>;

const treeSchema = z.object({ stmts: z.array(z.object({ stmt: statementSchema })) });

/** Why a command of `alter table` is not allowed, by the names of PostgreSQL's parser. */
const FORBIDDEN_COMMANDS: Readonly<Record<string, string>> = {
  AT_SetNotNull: 'set not null reads every row under a lock: add a check as not valid instead',
  AT_AlterColumnType: 'another type rewrites the table: add a column',
  AT_DropColumn: 'the previous version still uses the column',
};
const CHECKED_CONSTRAINTS: ReadonlySet<string> = new Set(['CONSTR_CHECK', 'CONSTR_FOREIGN']);
const FORBIDDEN_DROPS: ReadonlySet<string> = new Set(['OBJECT_TABLE', 'OBJECT_VIEW']);

/** @param sql the up part of a migration. @returns a sentence for each violation */
export async function migrationViolations(sql: string): Promise<string[]> {
  const { stmts } = treeSchema.parse(await parse(sql));
  const statements = stmts.map(({ stmt }) => stmt);
  const created = new Set(statements.map(({ CreateStmt }) => CreateStmt?.relation.relname));
  return statements.flatMap((statement) => violationsOf(statement, (table) => !created.has(table)));
}

function violationsOf(statement: Statement, exists: (table: string) => boolean): string[] {
  const { IndexStmt: index, AlterTableStmt: alter, UpdateStmt: update, RenameStmt: rename, DropStmt: drop } = statement;
  if (index && exists(index.relation.relname) && index.if_not_exists !== true) {
    return [`${index.relation.relname}: create the index with if not exists, so that it can be built beforehand`];
  }
  if (alter && exists(alter.relation.relname)) {
    return alter.cmds.flatMap(({ AlterTableCmd }) => commandViolations(alter.relation.relname, AlterTableCmd));
  }
  if (update && exists(update.relation.relname)) return [`${update.relation.relname}: an update rewrites its rows`];
  if (rename?.relation) return [`${rename.relation.relname}: the previous version still uses the name`];
  return drop && FORBIDDEN_DROPS.has(drop.removeType) ? ['the previous version still uses what is dropped'] : [];
}

function commandViolations(table: string, { subtype, def }: AlterCommand): string[] {
  const forbidden = FORBIDDEN_COMMANDS[subtype];
  if (forbidden !== undefined) return [`${table}: ${forbidden}`];
  const added = [def?.Constraint, ...(def?.ColumnDef?.constraints ?? []).map(({ Constraint }) => Constraint)];
  return added.flatMap((each) => {
    if (!each) return [];
    if (CHECKED_CONSTRAINTS.has(each.contype) && each.skip_validation !== true) {
      return [`${table}: add the constraint as not valid: PostgreSQL reads every row otherwise`];
    }
    return each.contype === 'CONSTR_DEFAULT' && isVolatile(each.raw_expr)
      ? [`${table}: a default other than a constant or now() is written into every row`]
      : [];
  });
}

/** A function call that is not `now()`. */
function isVolatile(expression: unknown): boolean {
  const text = JSON.stringify(expression);
  return text.includes('"FuncCall"') && !text.includes('"sval":"now"');
}
