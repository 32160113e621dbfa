// Which proofs `npm run test:landing` (`.ci/run`) runs: all that always run, a third of the others by the commit's
// time, and each other one whose own file, or a file that it declares, the newest commits change.
const { execFileSync } = require('node:child_process');

/** A session of work. Landings that follow one another run different thirds. */
const TURN_SECONDS = 3 * 3_600;
/** Commits of these seconds before the newest one are one landing: a session, and a margin. */
const LANDING_SECONDS = 4 * 3_600;
const TURNS = 3;

const PAGES = ['src/web/page', 'src/web/ui', 'src/web/dashboard', 'src/http'];
const STACK = ['src/local-stack', 'src/worker', 'src/temporal', 'workflows', 'activities'];
const SCHEMA = ['src/db'];

/**
 * The proofs that take part in the rotation: file → the files that it alone proves, as prefixes of paths. A layer that
 * most landings change is only declared by a proof that nothing else replaces for two landings. Other test files always
 * run: money, two people, audit, database roles, and what is fast.
 */
const ROTATING = {
  'test/e2e/dev.test.ts': ['scripts/dev.mjs', 'src/local-stack'],
  'test/local-stack/find-temporal-binary.test.ts': ['src/local-stack'],
  'test/scripts/vulnerabilities.test.ts': ['scripts/vulnerabilities.mjs'],
  'test/slow/dashboard/api-requests.test.ts': [...PAGES, 'src/services/payments', 'src/db/operations'],
  'test/slow/dashboard/buffers.test.ts': [
    'src/db/payments/list-payments.ts',
    'src/db/ledger',
    'src/db/links',
    'src/db/payouts',
    'src/services/payments',
    'test/support/dashboard-pages.ts',
  ],
  'test/slow/dashboard/counter.test.ts': [...PAGES, 'src/web/checkout', 'src/db/payments'],
  'test/slow/dashboard/exports.test.ts': [
    'src/lib/csv.ts',
    'src/web/page/export-csv.ts',
    'src/web/page/export-limit.ts',
    'src/web/dashboard/export-recorded.ts',
    'src/web/dashboard/balance/export-period.ts',
    'src/web/dashboard/payments/export-payments.ts',
  ],
  'test/slow/dashboard/foreign-texts.test.ts': PAGES,
  'test/slow/dashboard/home.test.ts': [...PAGES, 'src/db/merchants', 'src/db/payments'],
  'test/slow/dashboard/live.test.ts': [...PAGES, 'src/web/checkout'],
  'test/slow/dashboard/load.test.ts': ['src/web/page', 'src/http', 'src/servers/dashboard-app.ts'],
  'test/slow/dashboard/outages.test.ts': PAGES,
  'test/slow/dashboard/pages.test.ts': PAGES,
  'test/slow/dashboard/passkeys.test.ts': ['src/web/page', 'src/web/dashboard/sign-in', 'src/services/identity'],
  'test/slow/dashboard/process.test.ts': ['src/web/page', 'src/servers', 'src/http'],
  'test/slow/dashboard/requests.test.ts': [...PAGES, 'src/services/payments', 'src/db/operations'],
  'test/slow/dashboard/settings.test.ts': [...PAGES, 'src/services/merchants'],
  'test/slow/deployment/compose.test.ts': ['docker-compose.yml', 'deploy', 'Dockerfile', 'src/cli'],
  'test/slow/deployment/dashboards.test.ts': ['deploy/grafana', 'deploy/prometheus', 'src/observability'],
  'test/slow/deployment/helm.test.ts': ['deploy', 'src/config.ts'],
  'test/slow/deployment/image.test.ts': ['Dockerfile', 'package.json', 'package-lock.json', 'scripts/build.mjs'],
  'test/slow/deployment/metrics.test.ts': ['src/observability', 'src/worker', 'src/http', 'src/webhooks'],
  'test/slow/deployment/migrate.test.ts': SCHEMA,
  'test/slow/deployment/pods.test.ts': ['deploy', 'docs/production.md', 'src/config.ts', 'src/cli/rules'],
  'test/slow/deployment/pooler.test.ts': ['src/db/connection', 'src/lib/pooler.ts', 'src/worker'],
  'test/slow/deployment/prometheus-rules.test.ts': ['deploy/prometheus'],
  'test/slow/deployment/replicas.test.ts': [...STACK, 'src/api'],
  'test/slow/deployment/rolling-restart.test.ts': [
    'src/http',
    'src/servers',
    'src/api',
    'src/lib/graceful-shutdown.ts',
  ],
  'test/slow/deployment/temporal-requirements.test.ts': ['src/temporal', 'src/cli/commands/temporal.ts'],
  'test/slow/deployment/traces.test.ts': ['src/observability', ...STACK],
  'test/slow/deployment/worker-roles.test.ts': ['src/worker', 'src/servers', 'src/cli'],
  'test/slow/deployment/worker-versions.test.ts': STACK,
  'test/slow/documents/alert-pages.test.ts': ['docs/operations', 'deploy/prometheus', 'src/cli/commands'],
  'test/slow/documents/checkout-page.test.ts': ['src/web/checkout', 'src/web/ui', 'src/web/page'],
  'test/slow/documents/collections.test.ts': ['examples/collections', 'src/api'],
  'test/slow/documents/example-shops.test.ts': ['examples', 'packages/node', 'src/api'],
  'test/slow/documents/faspay-client.test.ts': ['src/snap', 'src/providers/snap', 'src/sandbox'],
  'test/slow/documents/node-package.test.ts': ['packages/node'],
  'test/slow/documents/quick-start.test.ts': [
    'docs/quick-start.md',
    'packages/node',
    'src/cli/run-local-stack.ts',
    'src/cli/listen',
    'src/local-stack',
  ],
  'test/slow/documents/standard-webhooks.test.ts': ['src/webhooks', 'examples'],
  'test/slow/documents/trigger.test.ts': ['src/cli/commands/trigger.ts', 'src/services/sandbox', 'src/sandbox'],
  'test/slow/documents/woocommerce.test.ts': ['packages/woocommerce', 'src/api', 'src/webhooks'],
  'test/slow/durability/archive.test.ts': ['src/services/archive', 'src/db/operations', 'src/db/migrations'],
  'test/slow/durability/backlog.test.ts': STACK,
  'test/slow/durability/balance-histories.test.ts': ['src/db', 'src/services/ledger', 'src/services/archive'],
  'test/slow/durability/clocks.test.ts': [...STACK, ...SCHEMA],
  'test/slow/durability/fail-over.test.ts': [...STACK, 'src/db/connection'],
  'test/slow/durability/full-disk.test.ts': [...STACK, 'src/db/connection'],
  'test/slow/durability/late-payment-slow-bank.test.ts': ['workflows', 'activities'],
  'test/slow/durability/listen.test.ts': ['src/cli/listen', 'src/api/webhook-stream', 'src/webhooks'],
  'test/slow/durability/long-outage.test.ts': ['workflows', 'activities', 'src/providers'],
  'test/slow/durability/model.test.ts': ['workflows', 'activities', 'src/domain', 'src/db/transitions'],
  'test/slow/durability/mutants.test.ts': ['workflows', 'activities', 'src/db', 'src/providers', 'test/faults'],
  'test/slow/durability/node-sdk.test.ts': ['packages/node', 'src/api', 'src/services/payments'],
  'test/slow/durability/reconcile-records.test.ts': ['src/services/reconciliation', 'src/services/recovery'],
  'test/slow/durability/relays.test.ts': ['src/webhooks', 'src/worker'],
  'test/slow/durability/restore-in-process.test.ts': ['src/services/recovery', ...STACK],
  'test/slow/durability/restore.test.ts': ['src/services/recovery', 'docs/operations', ...STACK],
  'test/slow/isolation/account-isolation.test.ts': [
    'src/providers',
    'activities/payment.ts',
    'activities/provider-deadline.ts',
    'src/http',
  ],
  'test/slow/isolation/checkout-load.test.ts': ['src/web/checkout', 'src/web/docs', 'src/http'],
  'test/slow/isolation/overload.test.ts': ['src/http', 'src/api', 'src/services/payments'],
  'test/slow/isolation/slow-readers.test.ts': ['src/http', 'src/web/page'],
  'test/slow/isolation/standalone-sandbox.test.ts': ['src/sandbox', 'src/cli/commands/sandbox.ts'],
  'test/slow/scale/bench.test.ts': ['bench'],
  'test/slow/scale/days-and-totals.test.ts': SCHEMA,
  'test/slow/scale/nightly-pass.test.ts': SCHEMA,
  'test/slow/scale/large-balance.test.ts': SCHEMA,
  'test/slow/scale/scale.test.ts': [
    'activities/retention.ts',
    'src/db/migrations/0007_schema_payments.sql',
    'src/db/migrations/0010_schema_webhooks.sql',
    'src/db/operations',
    'src/db/payments',
    'src/db/transitions',
    'src/services/reconciliation',
    'src/webhooks',
  ],
  'test/web/docs/samples.test.ts': ['src/api', 'src/web/docs'],
};

/**
 * The proofs that this landing leaves out.
 * @param commitSeconds the time of the newest commit
 * @param changedFiles what its landing changes
 */
function leftOut(commitSeconds, changedFiles) {
  const turn = Math.floor(commitSeconds / TURN_SECONDS) % TURNS;
  const isChanged = (prefix) => changedFiles.some((file) => file === prefix || file.startsWith(`${prefix}/`));
  return Object.entries(ROTATING)
    .filter(([file, proved], index) => index % TURNS !== turn && ![file, ...proved].some(isChanged))
    .map(([file]) => file);
}

/** The proofs that the newest commit of this repository leaves out. Without a history none is left out. */
function leftOutHere(directory) {
  const git = (...args) => execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim();
  try {
    const commitSeconds = Number(git('log', '-1', '--format=%ct'));
    const since = `--since=@${commitSeconds - LANDING_SECONDS}`;
    const changed = git('log', since, '--name-only', '--format=', '--no-renames').split('\n').filter(Boolean);
    return leftOut(commitSeconds, changed);
  } catch {
    return [];
  }
}

module.exports = { ROTATING, leftOut, leftOutHere };
