const { default: Sequencer } = require('@jest/test-sequencer');

/** More than a minute in the last whole run, the longest first. The other files fit beside them in any order. */
const LONGEST = [
  'slow/dashboard/pages',
  'slow/scale/scale',
  'slow/durability/mutants',
  'slow/durability/clocks',
  'slow/dashboard/buffers',
  'slow/deployment/image',
  'slow/documents/quick-start',
  'slow/durability/archive',
  'slow/dashboard/exports',
  'slow/scale/bench',
  'slow/durability/restore-in-process',
  'slow/durability/restore',
  'slow/durability/balance-histories',
  'slow/documents/collections',
  'slow/documents/checkout-page',
  'slow/documents/alert-pages',
  'e2e/up',
  'slow/durability/model',
  'slow/durability/fault-matrix',
  'slow/dashboard/payout-from-nothing',
  'slow/durability/reconcile-records',
  'slow/durability/outages',
  'slow/durability/fail-over',
  'slow/durability/worker-stop',
  'slow/dashboard/counter',
  'slow/isolation/temporal-tls',
  'slow/durability/backlog',
  'workflows/late-payment',
  'worker/recovery-mode',
  'cli/attention-next',
  'workflows/payment',
  'workflows/refund',
  'services/payouts/payouts-at-bank',
  'providers/snap/against-bank',
  'services/recovery/recover-payouts',
  'services/reconciliation/believable-runs',
  'cli/write-commands',
  'local-stack/up',
  'cli/long-commands',
];

/** By jest's order a file of three minutes may start last, and run alone. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
};

function rankOf({ path }) {
  const rank = LONGEST.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return rank === -1 ? LONGEST.length : rank;
}
