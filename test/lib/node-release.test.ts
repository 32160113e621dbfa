import { readFileSync } from 'node:fs';
import path from 'node:path';
import { RUNTIME_RULES } from '../../src/cli/rules/runtime-rules';
import { unsupportedNode } from '../../src/lib/node-release';
import { PACKAGE_ROOT } from '../../src/package-info';

const at = (day: string) => Date.parse(`${day}T12:00:00Z`);

it.each([
  ['v20.20.2', '2026-04-30', null],
  ['v20.20.2', '2026-05-01', 'Node.js 20.20.2 is out of support since 2026-04-30: it gets no security fixes.'],
  ['v22.1.0', '2026-11-24', null],
  ['v23.1.0', '2026-11-24', 'Node.js 23.1.0 is out of support since 2025-06-01: it gets no security fixes.'],
  ['v24.21.0', '2026-11-24', null],
  ['v99.0.0', '2099-01-01', null],
])('Node.js %s on %s', (version, day, warning) => {
  expect(unsupportedNode(version, at(day))).toBe(warning);
});

it('the advice has the version of the image', () => {
  const [, line = ''] = /^(\d+)\./.exec(readFileSync(path.join(PACKAGE_ROOT, '.nvmrc'), 'utf8')) ?? [];
  expect(RUNTIME_RULES[0]?.advice).toContain(`Node.js ${line},`);
});
