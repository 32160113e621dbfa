const { default: Sequencer } = require('@jest/test-sequencer');

/** A minute or more. The other files fit beside them in any order. */
const LONGEST = ['image', 'clocks', 'pages', 'scale', 'model', 'fault-matrix', 'fail-over'];

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
