import { createPool, type Pool } from '../../src/db/connection/pool';
import type { DatabaseLogin } from '../../src/local-stack/database-logins';
import { withClient } from '../../src/local-stack/postgres';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database';
import { runBuiltLunas } from '../support/lunas-process';
import { testEnvironment } from '../support/test-environment';

const LOGINS = [
  'lunas_local_api',
  'lunas_local_dashboard',
  'lunas_local_worker',
  'lunas_local_payouts',
  'lunas_local_verifier',
  'lunas_local_operator',
  'lunas_local_reader',
] as const;
const ID = '0193e5c0-0000-7000-8000-000000000000';

let database: TestDatabase;
let owner: Pool;
const pools = new Map<DatabaseLogin, Pool>();

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 1 });
  for (const login of LOGINS) pools.set(login, createPool(database.urlOf(login), { max: 1 }));
});
afterAll(async () => {
  await Promise.all([owner, ...pools.values()].map((pool) => pool.end()));
  await database.drop();
});

/** The error code of a statement that a role sends: `allowed` if it has none. */
async function attempt(login: DatabaseLogin, statement: string): Promise<string> {
  const failure: unknown = await pools
    .get(login)
    ?.query(statement)
    .catch((error: unknown) => error);
  return failure instanceof Error && 'code' in failure ? String(failure.code) : 'allowed';
}

const DENIED = '42501';

/** Only the owner may do these. */
const FORBIDDEN_TO_ALL = [
  'alter table operator_actions disable trigger all',
  'set session_replication_role = replica',
  'set role lunas_owner',
  'drop table payments',
  'create table mine (id integer)',
  'alter table payments add column mine integer',
  'create role mine',
  "copy payments to program 'true'",
  `update payments set amount_rupiah = 1`,
  `update payments set total_rupiah = 1, fee_rupiah = 0`,
  `update payments set merchant_id = '${ID}'`,
  `update payments set provider_account_id = '${ID}'`,
  `update refunds set amount_rupiah = 1`,
  `update late_payments set total_rupiah = 1`,
  'update exceptions set amount_rupiah = 1',
  'update policies set fee_basis_points = 0',
  'update installation set environment = $$production$$',
  "update provider_accounts set base_url = 'https://thief.test'",
  "update api_keys set secret_sha256 = sha256('x')",
  "update operators set login = 'x'",
  "update operators set secret_login = 'x'",
  "update webhook_events set body = '{}'",
  'update provider_notifications set body_sha256 = body_sha256',
  'update ledger_entries set amount_rupiah = 1',
  "update payment_transitions set actor = 'mine'",
  "update operator_actions set actor = 'mine'",
  "update operator_action_outcomes set outcome = 'succeeded'",
  'delete from ledger_entries',
  'delete from ledger_postings',
  'delete from ledger_verifications',
  'delete from payment_transitions',
  'delete from payments',
  'delete from refunds',
  'delete from exceptions',
  'delete from merchants',
  'delete from operator_actions',
  "insert into audit_chain values (1, 'action', 1, sha256('x'))",
  "update audit_chain set hash = sha256('x')",
  "select append_to_audit_chain('action', 1, 'x')",
  'delete from reconciliation_runs',
  'delete from daily_runs',
  'update daily_runs set started_at = now()',
  'delete from audit_verifications',
  'delete from approvals',
  "update approvals set parameters = '{}'",
  'update approval_rules set item_rupiah = 0',
  `insert into archived_payments (payment_id) values ('${ID}')`,
  'delete from archived_payments',
  'delete from archive_batches',
  'delete from archive_files',
  'insert into balance_transactions default values',
  'update balance_transactions set amount_rupiah = 1',
  'delete from balance_transactions',
  'insert into ended_days values (now())',
  'insert into closed_days values (now())',
  'insert into balance_days default values',
  'update balance_days set closing_rupiah = 0',
  'delete from closed_days',
  "select end_days_until('infinity')",
  'insert into fee_periods default values',
  'update fee_periods set issued_at = null',
  'delete from fee_periods',
  'insert into fee_period_lines default values',
  'update fee_period_lines set fee_rupiah = 0',
  'delete from fee_period_lines',
  'insert into fee_invoices default values',
  'update fee_invoices set fee_rupiah = 0',
  'delete from fee_invoices',
  'insert into balance_adjustments default values',
  'update balance_adjustments set amount_rupiah = 1',
  'delete from balance_adjustments',
  "update company_details set legal_name = 'x'",
  'update ledger_closings set debit_rupiah = 0',
  'delete from ledger_closings',
  'truncate webhook_attempts',
  'truncate rate_limits',
  'alter table users disable row level security',
  'drop policy merchant_realm on users',
  "update users set email = 'eve@thief.test'",
  "update users set realm = 'operator'",
  'delete from users',
  'delete from members',
  'update members set user_id = user_id',
  'update members set role_since = now()',
  'update members set first_added_at = now()',
  'update members set authorised_until = null',
  'update members set link_shown_to = null',
  'update passkeys set public_key = public_key',
  'update sign_in_links set token_sha256 = token_sha256',
  'update user_actions set actor = actor',
  'delete from user_actions',
  'delete from merchant_operator_actions',
  'delete from user_action_outcomes',
  'alter table bank_accounts disable row level security',
  "update bank_accounts set bank_code = '014'",
  "update bank_accounts set last_four = '1234'",
  `update bank_accounts set merchant_id = '${ID}'`,
  'delete from bank_accounts',
  'update bank_account_transitions set actor = actor',
  'delete from bank_account_transitions',
  'update payout_limits set cooldown_seconds = 0',
  'update payouts set amount_rupiah = 1',
  'update payouts set gross_rupiah = 1',
  `update payouts set bank_account_id = '${ID}'`,
  `update payouts set merchant_id = '${ID}'`,
  "update payouts set approval_kind = 'none'",
  "update payouts set requested_by = 'user:x'",
  'delete from payouts',
  'update payout_transitions set actor = actor',
  'delete from payout_transitions',
  "update payout_events set body = '{}'",
  'delete from payout_events',
  'update payout_policies set fee_rupiah = 0',
  'update payout_stops set is_stopped = false',
  'delete from payout_stops',
];

/** Gives back a fee. */
const CREDIT = `select book_adjustment('${ID}', 'FI-2026-000001', 1, 0, 'x', 'x', '${ID}', 'x')`;

/** Only workers with the role `payouts` do these. */
const WRITES_OF_PAYOUTS = [
  'insert into payouts default values',
  "update payouts set status = 'approved'",
  "update payouts set approved_by = 'user:x'",
  'update payouts set send_count = 0',
  'insert into payout_transitions default values',
  'insert into payout_events default values',
  'update balance_transactions set payout_id = null',
];

const END_RECOVERY_MODE = 'update recovery_mode set begun_at = null, begun_by = null, reason = null';

const POSTING_OF_A_PAYMENT = `insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
   values ('${ID}', 4, '${ID}', now())`;
const POSTING_OF_A_PAYOUT = `insert into ledger_postings (payout_id, payout_version, merchant_id, occurred_at)
   values ('${ID}', 5, '${ID}', now())`;

/** The API and operators book only the manual refund of a late payment. */
const POSTINGS = [
  `insert into ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
   values ('${ID}', 'receive', '${ID}', now())`,
  POSTING_OF_A_PAYMENT,
  POSTING_OF_A_PAYOUT,
];

const FORBIDDEN: Readonly<Record<(typeof LOGINS)[number], readonly string[]>> = {
  lunas_local_api: [
    "update webhook_endpoints set url = 'https://thief.test'",
    "select end_days('2020-01-01')",
    'select close_next_day()',
    "select archive_payments('{}', 1)",
    'insert into company_details default values',
    'update fee_invoices set sealed_parties = null',
    CREDIT,
    'insert into archive_files default values',
    'select path from api_requests',
    'update api_requests set status = 200',
    'select sealed_secret from webhook_secrets',
    'select sealed_number from bank_accounts',
    'select sealed_holder_name from bank_accounts',
    'select body from provider_notifications',
    'select response_excerpt from webhook_attempts',
    'delete from payment_details',
    "update payments set status = 'settled'",
    'update payments set version = 1',
    `insert into payment_transitions (payment_id) values ('${ID}')`,
    `insert into refunds (payment_id) values ('${ID}')`,
    'insert into approval_rules default values',
    "update approvals set status = 'approved'",
    'update operators set is_approved = true',
    "update operators set secret_sha256 = sha256('x')",
    "update merchants set status = 'approved'",
    `insert into merchants (id, name) values ('${ID}', 'Mine')`,
    `insert into api_keys (id) values ('${ID}')`,
    'update api_keys set revoked_at = null',
    `insert into operators (id) values ('${ID}')`,
    'insert into policies default values',
    "update provider_accounts set status = 'enabled'",
    "update provider_accounts set sealed_server_key = ''",
    `select stop_provider_account('${ID}')`,
    'insert into approval_decisions default values',
    'update provider_accounts set calls_per_second = null',
    'delete from provider_call_schedules',
    'insert into webhook_endpoints default values',
    'insert into retired_keys default values',
    'insert into merchant_logos default values',
    'delete from merchant_logos',
    'select sealed_details from merchant_identities',
    'select nmid from merchant_identities',
    'select sealed_parties from fee_invoices',
    'select lines from fee_invoices',
    "select cut_fee_period('2026-01-01')",
    CREDIT,
    "update merchants set accent = '#ff0000'",
    'select 1 from users',
    'select 1 from members',
    'select 1 from sessions',
    'insert into sign_in_links default values',
    'select sealed_terms from payouts',
    'select sealed_credentials from provider_accounts',
    ...WRITES_OF_PAYOUTS,
    ...POSTINGS,
  ],
  lunas_local_dashboard: [
    `update webhook_endpoints set merchant_id = '${ID}'`,
    'select secret_sha256 from operators',
    'select 1 from operator_actions',
    'insert into merchant_operator_actions default values',
    'select 1 from approvals',
    'select sealed_number from bank_accounts',
    'update bank_accounts set usable_from = now()',
    'update bank_accounts set sealed_number = null',
    'update bank_accounts set sealed_holder_name = null',
    'insert into payout_limits default values',
    'select sealed_terms from payouts',
    'insert into payout_policies default values',
    'insert into payout_stops default values',
    ...WRITES_OF_PAYOUTS,
    'select sealed_server_key from provider_accounts',
    'select secret_sha256 from api_keys',
    'select sealed_secret from webhook_secrets',
    'select body from provider_notifications',
    "update payments set status = 'settled'",
    'insert into payments default values',
    'insert into payment_transitions default values',
    'insert into refunds default values',
    'insert into ledger_postings default values',
    'insert into ledger_entries default values',
    'insert into operators default values',
    'insert into operator_actions default values',
    'insert into merchants default values',
    'insert into merchant_identities default values',
    'insert into company_details default values',
    "select cut_fee_period('2026-01-01')",
    CREDIT,
    'insert into fee_schedules default values',
    'insert into merchant_prices default values',
    'update payments set fee_terms = null',
    'update provider_accounts set merchant_id = null',
    "update merchants set status = 'approved'",
    'update merchants set held_at = null',
    `update merchant_logos set merchant_id = '${ID}'`,
    'insert into policies default values',
    'update users set disabled_at = null',
    `insert into users (id, operator_id) values ('${ID}', default)`,
    'delete from sessions',
    'delete from sign_in_links',
    'delete from api_requests',
  ],
  lunas_local_worker: [
    "update webhook_endpoints set url = 'https://thief.test'",
    "select archive_payments('{}', 1)",
    'insert into archive_files default values',
    'select sealed from payment_details',
    'select body from provider_notifications',
    'select secret_sha256 from api_keys',
    'select name from operators',
    'select 1 from operator_actions',
    'insert into operator_actions default values',
    'insert into api_keys default values',
    'update api_keys set last_used_at = now()',
    'insert into operators default values',
    'insert into merchants default values',
    "update merchants set status = 'approved'",
    'update merchants set held_at = null',
    'select 1 from merchant_logos',
    'insert into policies default values',
    "update provider_accounts set status = 'enabled'",
    "update provider_accounts set sealed_server_key = ''",
    "update provider_accounts set nmid = ''",
    'update provider_accounts set calls_per_second = null',
    'delete from provider_call_schedules',
    'insert into webhook_endpoints default values',
    'insert into payment_details default values',
    'update payments set fingerprint = $$x$$',
    'update exceptions set resolved_at = now()',
    'select 1 from rate_limits',
    'select 1 from api_requests',
    'select password_hash from users',
    'select 1 from members',
    'select 1 from passkeys',
    'select token_sha256 from sessions',
    'insert into sessions default values',
    'select token_sha256 from sign_in_links',
    'update bank_accounts set usable_from = now()',
    'insert into bank_accounts default values',
    'insert into payout_limits default values',
    'insert into payout_policies default values',
    'insert into payout_stops default values',
    'insert into payout_settings default values',
    "update payouts set sealed_terms = 'x'",
    `select authorises_payouts('${ID}', '${ID}')`,
    'select sealed_credentials from provider_accounts',
    'select sealed_number from bank_accounts',
    'select sealed_holder_name from bank_accounts',
    "update bank_accounts set status = 'active'",
    'select sealed_terms from payouts',
    ...WRITES_OF_PAYOUTS,
    POSTING_OF_A_PAYOUT,
    END_RECOVERY_MODE,
  ],
  lunas_local_payouts: [
    END_RECOVERY_MODE,
    "update payments set status = 'settled'",
    'select 1 from payments',
    'insert into payments default values',
    'insert into payment_transitions default values',
    'insert into refunds default values',
    POSTING_OF_A_PAYMENT,
    'select sealed from payment_details',
    'select sealed_secret from webhook_secrets',
    'select sealed_server_key from provider_accounts',
    "update provider_accounts set status = 'enabled'",
    "update provider_accounts set sealed_credentials = ''",
    'select body from provider_notifications',
    'insert into provider_notifications default values',
    'insert into webhook_events default values',
    "update webhook_deliveries set status = 'delivered'",
    "update webhook_endpoints set url = 'https://thief.test'",
    "select end_days('2020-01-01')",
    'select close_next_day()',
    "update merchants set status = 'approved'",
    'insert into bank_accounts default values',
    'update bank_accounts set usable_from = now()',
    'update bank_accounts set sealed_number = null',
    "update payouts set sealed_terms = 'x'",
    'insert into payout_limits default values',
    'insert into payout_policies default values',
    'insert into payout_stops default values',
    'insert into payout_settings default values',
    'select 1 from operator_actions',
    'select 1 from approvals',
    'select 1 from users',
    'select 1 from members',
    'select 1 from sessions',
    'select secret_sha256 from api_keys',
    'select name from operators',
  ],
  lunas_local_verifier: [
    END_RECOVERY_MODE,
    "update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'x'",
    "update payments set status = 'settled'",
    'update payments set updated_at = now()',
    'insert into payments default values',
    'insert into payment_transitions default values',
    'insert into refunds default values',
    'insert into late_payments default values',
    ...POSTINGS,
    'insert into ledger_entries default values',
    'update ledger_verifications set posting_id = 0',
    'update ledger_verification_results set break_count = 0',
    'insert into exceptions default values',
    'update exceptions set resolved_at = now()',
    'insert into operator_actions default values',
    'insert into operator_action_outcomes default values',
    'select begin_operator_action(null, false)',
    'insert into reconciliation_runs default values',
    'insert into retention_runs default values',
    'insert into merchants default values',
    'update merchants set held_at = null',
    'insert into retired_keys default values',
    'insert into webhook_events default values',
    'insert into provider_notifications default values',
    "update provider_accounts set status = 'enabled'",
    'insert into approvals default values',
    'insert into bank_accounts default values',
    'insert into payout_stops default values',
    ...WRITES_OF_PAYOUTS,
    'select sealed from payment_details',
    'select sealed_secret from webhook_secrets',
    'select sealed_server_key from provider_accounts',
    'select sealed_credentials from provider_accounts',
    'select sealed_terms from payouts',
    'select 1 from bank_accounts',
    'select 1 from webhook_events',
    'select 1 from provider_notifications',
    'select 1 from users',
    'select 1 from sessions',
    'select 1 from api_keys',
    'select 1 from operators',
    'select 1 from approvals',
    "select end_days('2020-01-01')",
    'select close_next_day()',
    "select archive_payments('{}', 1)",
  ],
  lunas_local_operator: [
    'insert into audit_verifications default values',
    'update audit_verifications set break_count = 0',
    'select png from merchant_logos',
    'insert into merchant_logos default values',
    `update webhook_endpoints set merchant_id = '${ID}'`,
    ...POSTINGS,
    "select end_days('2020-01-01')",
    'select close_next_day()',
    "update payments set status = 'pending'",
    "update payments set qris_payload = 'x'",
    'update payments set settlement_due_at = now()',
    'update payments set paid_at = now()',
    'insert into refunds default values',
    "update refunds set status = 'confirmed'",
    'insert into late_payments default values',
    'delete from webhook_events',
    'delete from webhook_deliveries',
    'delete from provider_notifications',
    'select body from provider_notifications',
    'delete from api_keys',
    'delete from operators',
    'delete from rate_limits',
    'delete from api_requests',
    'select password_hash from users',
    "update users set password_hash = ''",
    'select token_sha256 from sessions',
    'insert into sessions default values',
    'select 1 from recovery_codes',
    'insert into passkeys default values',
    "update members set role = 'owner'",
    'select token_sha256 from sign_in_links',
    'insert into user_actions default values',
    'update bank_accounts set inquired_at = now()',
    ...WRITES_OF_PAYOUTS,
  ],
  lunas_local_reader: [
    "update webhook_endpoints set url = 'https://thief.test'",
    "select end_days('2020-01-01')",
    'select close_next_day()',
    'select * from payments',
    'select idempotency_key from payments',
    'select path from api_requests',
    'select fingerprint from payments',
    'select qris_payload from payments',
    'select 1 from payment_details',
    'select 1 from retired_keys',
    'select secret_sha256 from api_keys',
    'select secret_sha256 from operators',
    'select sealed_server_key from provider_accounts',
    'select proposed_server_key from provider_accounts',
    'select sealed_secret from webhook_secrets',
    'select sealed_number from bank_accounts',
    'select sealed_holder_name from bank_accounts',
    'select sealed_details from merchant_identities',
    'select url from webhook_endpoints',
    'select parameters from approvals',
    'select detail from operator_actions',
    'select body from webhook_events',
    'select body from provider_notifications',
    'select response_excerpt from webhook_attempts',
    'select 1 from sealing_key_ids',
    'select email from users',
    'select 1 from sessions',
    'select 1 from sign_in_links',
    'select 1 from user_actions',
    'insert into merchants default values',
    "update payments set status = 'settled'",
    'select sealed_terms from payouts',
    'select body from payout_events',
    ...WRITES_OF_PAYOUTS,
  ],
};

describe.each(LOGINS)('attack: %s', (login) => {
  it.each([...FORBIDDEN_TO_ALL, ...FORBIDDEN[login]])('a login may not: %s', async (statement) => {
    expect(await attempt(login, statement)).toBe(DENIED);
  });

  it('reads what it compares at its start', async () => {
    expect(await attempt(login, 'select environment from installation, schema_migrations')).toBe('allowed');
  });
});

it('attack: no role has a login or a right over the server, and no process is a member of the owner', async () => {
  const { rows } = await owner.query(
    `select rolname from pg_roles where rolname in ('lunas_owner', 'lunas_api', 'lunas_dashboard', 'lunas_worker',
       'lunas_payouts', 'lunas_verifier', 'lunas_operator', 'lunas_reader')
       and (rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolbypassrls or rolreplication)`,
  );
  expect(rows).toEqual([]);
  for (const login of LOGINS) {
    const isMember = await owner.query<{ it: boolean }>(`select pg_has_role($1, 'lunas_owner', 'member') as it`, [
      login,
    ]);
    expect(isMember.rows).toEqual([{ it: false }]);
  }
});

describe('attack: with temporary tables of the same names', () => {
  it('an operator cannot keep an action out of the hash chain', async () => {
    await withClient(database.urlOf('lunas_local_operator'), async (client) => {
      await client.query('create temporary table audit_chain (like public.audit_chain)');
      await client.query('create temporary table operator_actions (like public.operator_actions)');
      const act = { actor: 'cli:eve', via: 'cli', action: 'key.revoke', target: ID };
      await client.query(
        'select begin_operator_action(jsonb_populate_record(null::public.operator_actions, $1), false)',
        [JSON.stringify(act)],
      );
    });
    const { rows } = await owner.query('select kind from audit_chain');
    expect(rows).toEqual([{ kind: 'action' }]);
  });

  it('the worker cannot write a posting that is not balanced', async () => {
    await owner.query(`insert into merchants (id, name) values ('${ID}', 'Toko')`);
    await withClient(database.urlOf('lunas_local_worker'), async (client) => {
      const posting = `insert into public.ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
        values ('${ID}', 'receive', '${ID}', now()) returning id`;
      await client.query('create temporary table ledger_entries (like public.ledger_entries)');
      await client.query(
        `insert into ledger_entries select id, 1, 'cash', side, 1
         from generate_series(1, 100) as id, unnest(array['debit', 'credit']) as side`,
      );
      const entry = `insert into public.ledger_entries select id, 1, 'cash', 'debit', 1 from posting`;
      await expect(client.query(`with posting as (${posting}) ${entry}`)).rejects.toMatchObject({ code: '23514' });
    });
  });
});

/** Relations that a migration created without a thought of the roles. */
async function listForgotten(): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'm', 'p') and (
       relowner <> 'lunas_owner'::regrole
       or not exists (
         select from unnest(array['lunas_api', 'lunas_dashboard', 'lunas_worker', 'lunas_payouts',
           'lunas_operator', 'lunas_reader']) as role
         where has_any_column_privilege(role, pg_class.oid, 'select')))
     order by 1`,
  );
  return rows.map(({ name }) => name);
}

describe('a table of a later migration', () => {
  it('belongs to lunas_owner, and a role has a right to it', async () => {
    expect(await listForgotten()).toEqual([]);
  });

  it('a table of a later migration is reported if it has another owner, or no role has a right to it', async () => {
    await owner.query('begin');
    await owner.query('create table without_owner (id integer)');
    await owner.query('grant select on without_owner to lunas_operator');
    await owner.query('set local role lunas_owner');
    await owner.query('create table without_grant (id integer)');
    expect(await listForgotten()).toEqual(['without_grant', 'without_owner']);
    await owner.query('rollback');
  });
});

describe('`lunas migrate` by a role that is no superuser', () => {
  const ROLE = 'test_migrator';
  let empty: TestDatabase;
  let url: string;

  const migrate = (DATABASE_URL: string) => runBuiltLunas(['migrate'], { DATABASE_URL, LUNAS_ENVIRONMENT: 'sandbox' });

  beforeAll(async () => {
    empty = await createEmptyDatabase();
    const migrator = new URL(empty.url);
    migrator.username = ROLE;
    migrator.password = 'secret';
    url = migrator.href;
    await withClient(empty.url, async (client) => {
      await client.query(`create role ${ROLE} login password 'secret'`);
      await client.query(`alter database ${migrator.pathname.slice(1)} owner to ${ROLE}`);
    });
  });
  afterAll(async () => {
    await empty.drop();
    await withClient(testEnvironment('DATABASE_SERVER_URL'), (client) => client.query(`drop role ${ROLE}`));
  });

  it('names what an administrator has to do, and succeeds after the grant', async () => {
    expect(await migrate(url)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^error: PostgreSQL at \S+ rejects it: role test_migrator may not create .*production\.md.*\n$/,
      ),
    });
    await withClient(empty.url, (client) => client.query(`grant lunas_owner to ${ROLE}`));
    expect(await migrate(url)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('0001_schema_roles') });
    await withClient(empty.urlOf('lunas_local_reader'), async (client) => {
      expect((await client.query('select from merchants')).rowCount).toBe(0);
    });
  });

  it('`lunas migrate` has nothing to do for an operator if the schema is up to date', async () => {
    const upToDate = { exitCode: 0, stdout: 'The schema is up to date.\n' };
    expect(await migrate(empty.urlOf('lunas_local_operator'))).toMatchObject(upToDate);
  });

  it('attack: applies nothing for the API', async () => {
    const untouched = await createEmptyDatabase();
    expect(await migrate(untouched.urlOf('lunas_local_api'))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error: The role lunas_local_api may not change the schema: .*\n$/),
    });
    await withClient(untouched.url, async (client) =>
      expect((await client.query('select from pg_tables where schemaname = $1', ['public'])).rowCount).toBe(0),
    );
    await untouched.drop();
  });
});
