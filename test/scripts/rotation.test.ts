import { existsSync } from 'node:fs';
import { leftOut, ROTATING } from '../../scripts/rotation.cjs';

const TURN_SECONDS = 3 * 3_600;
const proofs = Object.entries(ROTATING);

it('each proof and each file that it declares exists', () => {
  const named = proofs.flatMap(([file, proved]) => [file, ...proved]);
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
});

it('three landings that follow one another run each proof once', () => {
  const runs = [0, 1, 2].map((turn) => {
    const skipped = new Set(leftOut(turn * TURN_SECONDS, []));
    return proofs.map(([file]) => file).filter((file) => !skipped.has(file));
  });
  expect(runs.flat().toSorted()).toEqual(proofs.map(([file]) => file).toSorted());
  expect(Math.max(...runs.map(({ length }) => length)) - Math.min(...runs.map(({ length }) => length))).toBeLessThan(2);
});

it.each(proofs)('%s runs when a file is changed that it declares', (file, proved) => {
  for (const changed of [file, ...proved, ...proved.map((prefix) => `${prefix}/deeper/file.ts`)]) {
    for (const turn of [0, 1, 2]) expect(leftOut(turn * TURN_SECONDS, [changed])).not.toContain(file);
  }
});

it('a file whose path only begins like a declared one changes nothing', () => {
  expect(leftOut(0, ['src/database.ts', 'benchmarks.md'])).toEqual(leftOut(0, []));
});
