import type { SubjectTables } from '../transitions/subjects';

/**
 * Joins `delivery` with its event, transition and subject, as `about`. One branch for each kind of subject: the ids of
 * the other kinds are null in a delivery, so that PostgreSQL reads nothing for them.
 * @param columns the select list besides `kind`, `id` and `reference_id`, of `event` and `transition`
 */
export function joinSubject(kinds: readonly SubjectTables[], columns: string): string {
  const branches = kinds.map((tables) => {
    const { kind, table, referenceColumn, events, idColumn, versionColumn } = tables;
    return `
    select '${kind}' as kind, subject.id, subject.${referenceColumn} as reference_id, ${columns}
    from ${events} event
    ${joinTransition(tables)}
    join ${table} subject on subject.id = event.${idColumn}
    where event.${idColumn} = delivery.${idColumn} and event.${versionColumn} = delivery.${versionColumn}`;
  });
  return `cross join lateral (${branches.join('\n    union all')}
  ) about`;
}

function joinTransition({ transitions, idColumn, versionColumn }: SubjectTables): string {
  if (transitions === null) return 'cross join (select null::text as request_id, null::text as traceparent) transition';
  return `join ${transitions} transition
      on transition.${idColumn} = event.${idColumn} and transition.version = event.${versionColumn}`;
}
