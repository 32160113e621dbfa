import { MAX_RUN_AGE_SECONDS } from '../../domain/daily-runs';

const MAX_AGES = Object.entries(MAX_RUN_AGE_SECONDS)
  .map(([kind, seconds]) => `('${kind}', interval '${seconds} seconds')`)
  .join(', ');

/**
 * For each kind of run the end of its last complete one, and its newest one that has ended. Before the first complete
 * run, the end is the time of the installation, or that of our account at the bank for payouts. Without that account
 * payouts have no row.
 */
export const LAST_RUNS = `
  select run.kind, completed_at, completed_at < now() - max_age as is_late,
    newest.finished_at, newest.failed_count, newest.failed, newest.failure
  from (values ${MAX_AGES}) run (kind, max_age)
  join lateral (
    select greatest(
      (select max(finished_at) from daily_runs where daily_runs.kind = run.kind and is_complete),
      case run.kind
        when 'payouts' then (select created_at from provider_accounts where purpose = 'payouts' and status = 'enabled')
        else (select recorded_at from installation)
      end
    ) as completed_at
  ) complete on run.kind <> 'payouts'
    or exists (select from provider_accounts where purpose = 'payouts' and status = 'enabled')
  left join lateral (
    select * from daily_runs where daily_runs.kind = run.kind and daily_runs.finished_at is not null
    order by started_at desc limit 1
  ) newest on true`;
