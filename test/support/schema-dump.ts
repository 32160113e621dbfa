import { createPool, type Queryable } from '../../src/db/connection/pool';
import { createTestDatabase } from './database';

/** Without the tables of the migration tool and of extensions. */
const OUR_RELATIONS = `
  select pg_class.oid, relname from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'schema_migrations'`;

/** What the roles of Lunas may have rights to. */
const GRANTED = `
  select oid, relname, relacl, relowner from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')`;

const STATEMENTS = [
  `select pg_get_functiondef(oid) || ';' as line from pg_proc
   where pronamespace = 'public'::regnamespace order by oid::regprocedure::text`,
  `select format(E'create table %s (\\n%s\\n);', ours.relname, string_agg(format('  %s %s%s%s', attname,
      format_type(atttypid, atttypmod),
      case when attnotnull then ' not null' else '' end,
      case when attidentity = 'a' then ' generated always as identity'
        when pg_attrdef.oid is not null then ' default ' || pg_get_expr(adbin, adrelid) else '' end),
      E',\\n' order by attnum)) as line
    from (${OUR_RELATIONS}) ours
    join pg_attribute on attrelid = ours.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    group by ours.relname order by ours.relname`,
  `select format('alter table %s add constraint %s %s;', ours.relname, conname,
     pg_get_constraintdef(pg_constraint.oid)) as line
    from (${OUR_RELATIONS}) ours join pg_constraint on conrelid = ours.oid
    where contype <> 'n' and contype <> 't' order by ours.relname, conname`,
  `select pg_get_indexdef(indexrelid) || ';' as line
    from (${OUR_RELATIONS}) ours join pg_index on indrelid = ours.oid
    where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    order by ours.relname, indexrelid::regclass::text`,
  `select format('alter table %s set (%s);', relname, array_to_string(reloptions, ', ')) as line
    from (${OUR_RELATIONS}) ours join pg_class using (oid, relname)
    where reloptions is not null order by relname`,
  `select pg_get_triggerdef(pg_trigger.oid) || ';' as line
    from (${OUR_RELATIONS}) ours join pg_trigger on tgrelid = ours.oid
    where not tgisinternal order by ours.relname, tgname`,
  `select format('create view %s as%s%s', relname, E'\\n', pg_get_viewdef(oid)) as line from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'v' order by relname`,
  `select format('grant %s on %s to %s;', string_agg(privilege || columns, ', ' order by privilege, columns),
      relname, grantee) as line
    from (
      select relname, grantee::regrole::text as grantee, lower(privilege_type) as privilege, '' as columns
      from (${GRANTED}) granted, aclexplode(relacl)
      where grantee <> relowner
      union all
      select relname, grantee::regrole::text, lower(privilege_type),
        format(' (%s)', string_agg(attname, ', ' order by attnum))
      from (${GRANTED}) granted join pg_attribute on attrelid = granted.oid, aclexplode(attacl)
      group by relname, grantee, privilege_type
    ) grants group by relname, grantee order by relname, grantee`,
] as const;

/** The schema as text: equal texts mean equal schemas. */
export async function dumpSchema(db: Queryable): Promise<string> {
  const parts: string[] = [];
  for (const statement of STATEMENTS) {
    const { rows } = await db.query<{ line: string }>(statement);
    parts.push(rows.map(({ line }) => line).join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}

/** The schema after all migrations. */
export async function dumpMigratedSchema(): Promise<string> {
  const database = await createTestDatabase();
  const db = createPool(database.url, { max: 1 });
  try {
    return await dumpSchema(db);
  } finally {
    await db.end();
    await database.drop();
  }
}
