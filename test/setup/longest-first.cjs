const { default: Sequencer } = require('@jest/test-sequencer');

/** More than a minute, the longest first. The other files fit beside them in any order. */
const LONGEST = [
  'pages',
  'scale',
  'clocks',
  'image',
  'mutants',
  'late-payment',
  'buffers',
  'payouts-at-bank',
  'restore',
  'bench',
  'restore-in-process',
  'fault-matrix',
  'alert-pages',
  'model',
  'up',
  'archive',
  'checkout-page',
  'quick-start',
  'reconcile-records',
  'payout-from-nothing',
  'refund',
  'against-bank',
  'temporal-tls',
  'outages',
];

/** By jest's order a file of three minutes may start last, and run alone. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
};

function rankOf({ path }) {
  const rank = LONGEST.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return rank === -1 ? LONGEST.length : rank;
}
